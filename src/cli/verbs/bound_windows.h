// Windows of a few jobs, each with its bounds and its exact optimum: how loose the bounds are.
#pragma once

#include <cstddef>
#include <functional>
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

struct ComparedWindows {
  std::size_t jobs = 0;               // of each
  std::size_t total = 0;              // that the jobs make
  std::vector<WindowBounds> windows;  // the first of them: all, unless the time was over before
};

// For all windows together.
struct WindowsLimit {
  double seconds_max = 60;
  std::function<double()> clock = [] { return 0.0; };  // without one no limit strikes
};

// Windows of so many jobs that follow each other, each as if alone and beginning at 0; what is left
// over at the end is passed over. Fails on a job that fits no profile, and on too many jobs for an
// optimum.
Result<ComparedWindows> window_bounds(const workload::Trace& trace, const bounds::Fleet& fleet,
                                      std::size_t jobs, const WindowsLimit& limit);

nlohmann::ordered_json windows_json(const ComparedWindows& compared);
std::string windows_text(const ComparedWindows& compared, bool bold);

}  // namespace partita::cli
