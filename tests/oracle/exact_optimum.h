// The exact optimum of a very small problem.
//
// Free preemption, layouts that change at no cost, and knowledge of all jobs to come: what no
// policy can beat. Between two events (releases and completions) only the time spent in each
// assignment of jobs to instances matters, so every order of the events is one linear program; all
// orders are tried.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "bounds/prices/price_bound.h"

namespace partita::bounds {

inline constexpr std::size_t kExactJobsMax = 6;
inline constexpr std::uint32_t kExactGpusMax = 2;

// The least late * (sum of tardiness, seconds) + energy * (all joules up to the end). Exact to the
// solver's tolerance. Fails on problems that are too large. Time grows with the orders of events:
// 15 for three jobs at different times, 105 for four, 10,395 for six.
Result<double> exact_optimum(const Problem& problem, const Weights& weights);

inline constexpr std::size_t kExactWholeJobsMax = 4;

// The same when every job runs whole: one instance, from begin to end without a break. Instances
// may still trade places and GPUs with each other at any instant, so this is not above the least
// that a schedule can cost. Every choice of modes and every order of begins and ends is one linear
// program: for two jobs 6 orders, for three 90, for four 2,520, times the modes of each job.
Result<double> exact_whole_optimum(const Problem& problem, const Weights& weights);

}  // namespace partita::bounds
