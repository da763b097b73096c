// Bounds that are formulas: exact or in directed rounding, and cheap.
#pragma once

#include "base/result.h"
#include "bounds/problem.h"

namespace partita::bounds {

// Joules that GPUs burn however idle, up to the instant before which no schedule ends.
double idle_energy_j(const Problem& problem);

// A GPU with b busy slices draws at least A + s b watts; every GPU is on up to that instant, and
// each job needs at least its fewest slice-seconds. The best such line under the power curve.
double linear_energy_j(const Problem& problem);

// SMART-MIG's formula as printed: P7 sum p / 7 + (m C* - sum p / 7) P0, with p the time of a job on
// one slice and C* the makespan of linear jobs on whole GPUs. No horizon, no memory. An error says
// which of its premises does not hold: jobs at most linear, a power curve above its chord.
Result<double> smart_mig_energy_j(const Problem& problem);

// Sum of tardiness, seconds, if every job had the fleet for itself.
double fastest_tardiness_s(const Problem& problem);

// Sum of tardiness, seconds. For any set of jobs the fleet, as one machine of its whole speed, has
// completed the most by an instant when the shortest remaining one went first; of the jobs due by
// then, the others are late at that instant. Integrated over time, each job's due date moved to
// where it could be done alone, whose tardiness is added. Work is proportional to the jobs times
// those at one time in the queue; where that is too much, the completions of all jobs at once in
// order against the due dates in order, which is less tight.
double matching_tardiness_s(const Problem& problem);

// The second of these ways only. N log n.
double rough_matching_tardiness_s(const Problem& problem);

}  // namespace partita::bounds
