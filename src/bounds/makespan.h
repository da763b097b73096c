// The least makespan of linearised jobs: preemptive, with releases, on GPUs used whole.
#pragma once

#include "bounds/instance.h"

namespace partita::bounds {

// No schedule of the instance ends before this instant (microseconds). Each job is taken to need
// its least compute-slice time divided by the slices of a GPU, on one GPU at a time; the optimum of
// that is exact (longest remaining time first), and rounded down by a billionth. No job ends before
// its release and its fastest time either.
double least_makespan(const Instance& instance);

}  // namespace partita::bounds
