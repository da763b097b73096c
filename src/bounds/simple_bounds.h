// Bounds that are formulas: exact, and cheap for millions of jobs.
#pragma once

#include "bounds/instance.h"

namespace partita::bounds {

// Joules that GPUs burn however idle, up to the end of any schedule.
double idle_energy_j(const Instance& instance);

// SMART-MIG's energy bound: every compute-slice second at the least watts it can cost, each job at
// the fewest it needs, and idle_energy_j.
double linear_energy_j(const Instance& instance);

// Sum of tardiness, seconds, if every job had the fleet for itself.
double fastest_tardiness_s(const Instance& instance);

// Sum of tardiness, seconds: the fleet as one machine of its whole speed, which completes the most
// jobs by any instant when the shortest remaining one goes first; its completions in order against
// the due dates in order.
double matching_tardiness_s(const Instance& instance);

}  // namespace partita::bounds
