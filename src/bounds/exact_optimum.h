// The exact optimum of a very small instance, for tests and curiosity.
//
// Free preemption, layouts that change at no cost, and knowledge of all jobs to come: what no
// policy can beat. Between two events (releases and completions) only the time spent in each
// assignment of jobs to instances matters, so every order of the events is one linear program; all
// orders are tried.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "bounds/price_bound.h"

namespace partita::bounds {

inline constexpr std::size_t kExactJobsMax = 6;
inline constexpr std::uint32_t kExactGpusMax = 2;

// The least late * (sum of tardiness, seconds) + energy * (all joules up to the end). Exact to the
// solver's tolerance. Fails on instances that are too large. Time grows with the orders of events:
// 15 for three jobs at different times, 105 for four, 10,395 for six.
Result<double> exact_optimum(const Instance& instance, const Weights& weights);

}  // namespace partita::bounds
