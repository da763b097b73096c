// Small random jobs, fleets and prices for the tests of this room.
#pragma once

#include <cmath>
#include <string>

#include "base/rng.h"
#include "bounds/instance.h"
#include "bounds/job_response.h"

namespace partita::bounds {

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

inline Instance random_instance(std::uint64_t seed, int jobs, std::uint32_t gpus) {
  return *make_instance(random_trace(seed, jobs), a100_fleet(gpus));
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

}  // namespace partita::bounds
