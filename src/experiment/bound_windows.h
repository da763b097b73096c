// Windows of a few jobs, each with its bounds and its exact optimum: how loose the bounds are.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/result.h"
#include "bounds/problem.h"
#include "workload/job.h"

namespace partita::experiment {

// Mean tardiness, seconds, of the jobs of one window when none is interrupted.
struct WindowBounds {
  std::size_t first_job = 0;  // of the trace
  double prices_s = 0;
  double non_preemptive_s = 0;
  double bound_s = 0;           // the best of all bounds
  double optimum_s = 0;         // of the best schedule met
  bool optimum_proven = false;  // that it is the optimum

  // That nothing has to be late; less than a microsecond is rounding.
  bool on_time() const { return optimum_proven && optimum_s < 1e-6; }
};

struct ComparedWindows {
  std::size_t jobs = 0;               // of each
  std::size_t total = 0;              // that the jobs make
  std::vector<WindowBounds> windows;  // the first of them: all, unless the time was over before

  // Of the windows whose optimum is known and is not 0: what a bound can be compared with.
  struct Sums {
    std::size_t windows = 0;
    std::size_t on_time = 0;   // windows in which nothing has to be late
    std::size_t unproven = 0;  // whose optimum is not known
    double prices_s = 0;
    double non_preemptive_s = 0;
    double bound_s = 0;
    double optimum_s = 0;
  };
  Sums sums() const;
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

}  // namespace partita::experiment
