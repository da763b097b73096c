// The least sum of tardiness that a few jobs can have when none is interrupted: to see how loose
// the bounds are.
//
// Layouts change at no cost and all jobs are known beforehand; but a job stays on the memory slices
// of the GPU where it began, to its end. With that the result is the tardiness of a schedule that
// the simulator could carry out but for the time that layouts take, and no other has less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "bounds/problem.h"
#include "bounds/slots/job_response.h"
#include "mig/layout.h"

namespace partita::bounds {

inline constexpr std::size_t kWindowJobsMax = 16;

struct PlacedRun {
  std::size_t job = 0;  // of the problem
  std::uint32_t gpu = 0;
  mig::Placement placement;
  double begin = 0;  // microseconds
  double end = 0;
};

struct WindowOptimum {
  double total_s = 0;   // of the best schedule met
  bool proven = false;  // that there is none with less; else the search was cut short
  std::uint64_t nodes = 0;
  std::vector<PlacedRun> runs;  // that schedule, in order of begin
};

struct WindowEffort {
  std::uint64_t nodes_max = 300'000;
  // Seconds left, asked now and then.
  std::function<double()> seconds_left = [] { return 1e9; };
};

// Jobs are placed in order of their begin, each as early as its place allows, which some best
// schedule does; a branch ends where `prices` (those of the non-preemptive bound of tardiness, or
// any others: they cost time, not truth) prove that the rest cannot be better. Fails on too many
// jobs. REQUIRES: the problem is of this model; the prices are sound (proven_value).
Result<WindowOptimum> window_optimum(const Problem& problem, const mig::GpuModel& model,
                                     const PriceGrid& prices, const WindowEffort& effort);

}  // namespace partita::bounds
