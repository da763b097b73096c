// The least makespan of linearised jobs: preemptive, with releases, on GPUs used whole.
#pragma once

#include "bounds/problem.h"

namespace partita::bounds {

// The optimum when each job needs its least compute-slice time divided by the slices of a GPU, on
// one GPU at a time: longest remaining time first, in arithmetic rounded so that the result
// (microseconds) is never above the true one.
double linear_makespan(const Problem& problem);

// No schedule of the problem ends before this instant: linear_makespan, and the release and
// fastest time of every job.
double least_makespan(const Problem& problem);

}  // namespace partita::bounds
