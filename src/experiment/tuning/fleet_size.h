// Fleet sizing: the fewest GPUs that keep late jobs to a target, and what more of them are worth.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/policy_run.h"

namespace partita::experiment {

struct SizedFleet {
  std::uint32_t gpus = 0;
  sim::RunResult result;
};

struct FleetSizes {
  std::vector<SizedFleet> curve;        // every size that was run, by number of GPUs
  std::optional<std::uint32_t> fewest;  // that keep to the target; nothing: none that was tried
  std::optional<std::uint32_t> knee;    // see knee_of
};

struct SizeOptions {
  double late_max = 0.05;  // share of jobs that may be late
  std::uint32_t gpus_max = 1'024;
  std::string layouts_place = "layouts";  // where they were set, for the error that they do not fit
  std::function<void(double)> progress = {};  // fraction done; -1: not known
};

// Doubling, then halving the gap; then sizes around the answer. More GPUs hardly ever make more
// jobs late; where they do, a smaller fleet that would do may be passed over. The number of GPUs in
// `run` is not used. An error means that a size cannot be run.
Result<FleetSizes> size_fleet(const workload::Trace& trace, const sim::RunOptions& run,
                              const Policy& policy, const SizeOptions& options);

// The size after which tardiness falls little for the energy it costs: the point of the curve that
// lies furthest below the line from its first to its last point, both axes scaled to 1.
std::optional<std::uint32_t> knee_of(const std::vector<SizedFleet>& curve);

}  // namespace partita::experiment
