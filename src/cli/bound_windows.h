// Windows of a few jobs, each with its bounds and its exact optimum: how loose the bounds are.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "bounds/instance.h"
#include "workload/job.h"

namespace partita::cli {

// Mean tardiness, seconds, of the jobs of one window when none is interrupted.
struct WindowBounds {
  std::size_t first_job = 0;  // of the trace
  double prices_s = 0;
  double non_preemptive_s = 0;
  double bound_s = 0;           // the best of all bounds
  double optimum_s = 0;         // of the best schedule met
  bool optimum_proven = false;  // that it is the optimum
};

// Windows of so many jobs that follow each other, each as if alone and beginning at 0; what is left
// over at the end is passed over. Fails on a job that fits no profile, and on too many jobs for an
// optimum.
Result<std::vector<WindowBounds>> window_bounds(const workload::Trace& trace,
                                                const bounds::Fleet& fleet, std::size_t jobs);

nlohmann::ordered_json windows_json(const std::vector<WindowBounds>& windows, std::size_t jobs);
std::string windows_text(const std::vector<WindowBounds>& windows, std::size_t jobs, bool bold);

}  // namespace partita::cli
