// Small random jobs, fleets and prices for the tests of this module.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/rng.h"
#include "bounds/prices/price_bound.h"
#include "bounds/problem.h"
#include "bounds/slots/job_response.h"

namespace partita::bounds {

inline constexpr Weights kBothGoals{1, 0.01};

inline workload::Job random_job(Rng& rng) {
  workload::Job job;
  job.arrival = micros_from_seconds(rng.uniform(0, 100));
  const double whole = rng.uniform(5, 60);
  const double power = rng.uniform(0.2, 1.0);
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    const double share = workload::kSliceSizes[i] / 7.0;
    job.time[i] = micros_from_seconds(whole * std::pow(share, -power));
  }
  job.deadline = job.arrival + micros_from_seconds(whole * rng.uniform(0.5, 2));
  return job;
}

inline workload::Trace random_trace(std::uint64_t seed, int jobs) {
  Rng rng(seed, 7);
  workload::Trace trace;
  trace.class_names = {"any"};
  for (int i = 0; i < jobs; ++i) trace.add(random_job(rng), std::to_string(i));
  workload::sort_by_arrival(trace);
  return trace;
}

inline Fleet a100_fleet(std::uint32_t gpus) {
  const mig::GpuModel* model = *mig::find_gpu("a100-40gb");
  return {model, &model->power_curves.front(), gpus, Micros{}};
}

inline Problem random_problem(std::uint64_t seed, int jobs, std::uint32_t gpus) {
  return *make_problem(random_trace(seed, jobs), a100_fleet(gpus));
}

// A few jobs on one or two GPUs, for comparisons with an exact optimum.
struct Small {
  workload::Trace trace;
  Fleet fleet;
  double et_a = 0;
};

// Jobs that crowd each other, some odd: missing sizes, memory that excludes small slices, larger
// slices that are slower, equal releases, due dates before any possible end.
inline workload::Job draw_crowded_job(Rng& rng, double memory_max) {
  workload::Job job;
  job.arrival = micros_from_seconds(static_cast<double>(rng.below(4)) * rng.uniform(0, 40));
  const double whole = rng.uniform(5, 60);
  const double power = rng.uniform(0.2, 1.1);
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    const double share = workload::kSliceSizes[i] / 7.0;
    const double seconds = whole * std::pow(share, -power) * rng.uniform(0.95, 1.05);
    job.time[i] = rng.below(8) == 0 ? workload::kNoTime : micros_from_seconds(seconds);
  }
  if (job.time[2] == workload::kNoTime) job.time[3] = micros_from_seconds(whole);
  if (rng.below(3) == 0) job.memory_gib = static_cast<float>(rng.uniform(0, memory_max));
  job.deadline = job.arrival + micros_from_seconds(whole * rng.uniform(0, 2));
  return job;
}

inline Small draw_small(std::uint64_t seed) {
  Rng rng(seed, 5);
  Small small;
  static const std::array names{"a100-40gb", "a30-24gb", "a30-24gb", "h200-141gb"};
  small.fleet.model = *mig::find_gpu(names[rng.below(names.size())]);
  const auto& curves = small.fleet.model->power_curves;
  small.fleet.power = &curves[rng.below(curves.size())];
  small.fleet.gpus = 1 + static_cast<std::uint32_t>(rng.below(2));
  small.fleet.horizon = micros_from_seconds(rng.below(2) == 0 ? 0 : rng.uniform(0, 200));
  const std::array kFewJobs{1, 2, 2, 2, 3};
  const int jobs = kFewJobs[rng.below(kFewJobs.size())];
  small.trace.class_names = {"any"};
  for (int i = 0; i < jobs; ++i) {
    workload::Job job = draw_crowded_job(rng, small.fleet.model->profiles.back().memory_gib);
    // A size that every part has.
    if (job.time[3] == workload::kNoTime) job.time[3] = micros_from_seconds(30);
    if (job.memory_gib > 19.5F) job.memory_gib = 0;
    small.trace.add(job, std::to_string(i));
  }
  workload::sort_by_arrival(small.trace);
  small.et_a = std::pow(10, rng.uniform(-5, 0));
  return small;
}

// Intervals of a few seconds, prices that a job would weigh against being late; the tail is dear.
inline PriceGrid random_prices(std::uint64_t seed, std::size_t modes) {
  Rng rng(seed, 8);
  PriceGrid grid;
  grid.modes = modes;
  for (double edge = 0; edge < 250e6; edge += std::floor(rng.uniform(1e6, 30e6))) {
    grid.edges.push_back(edge);
    const double level = rng.below(4) == 0 ? 0 : rng.exponential(1);
    for (std::size_t mode = 0; mode < modes; ++mode) {
      grid.prices.push_back(level * rng.uniform(0, static_cast<double>(mode + 1)));
    }
  }
  return grid;
}

// Random prices that are valid for both goals: those of the tail are as low as they must be.
inline PriceGrid sound_prices(std::uint64_t seed, const Problem& problem) {
  PriceGrid grid = random_prices(seed, problem.modes.size());
  const std::vector<double> tail = tail_prices(problem, kBothGoals, grid.edges.back());
  std::copy(tail.begin(), tail.end(), grid.prices.end() - static_cast<std::ptrdiff_t>(grid.modes));
  return grid;
}

}  // namespace partita::bounds
