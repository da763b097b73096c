// The simulator: jobs, GPUs and two policies in; energy, tardiness and the schedule out.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/result.h"
#include "decide/repartitioner.h"
#include "decide/scheduler.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::sim {

// Called now and then with the fraction of the jobs that have arrived.
using Progress = std::function<void(double)>;

// What a run can do without.
struct RunExtras {
  RunExtras() = default;
  RunExtras(Progress report)
      : progress(std::move(report)) {}  // NOLINT(google-explicit-constructor)

  Progress progress;
  // A second scheduler of the same kind as the run's: with it, repartitioners can ask for
  // forecasts.
  decide::Scheduler* forecast_scheduler = nullptr;
  // One more scheduler of that kind with each call; needed where users share (RunOptions::queue),
  // and the run's own is then not used.
  std::function<std::unique_ptr<decide::Scheduler>()> make_scheduler = {};
};

// Exact and repeatable: the same arguments give the same result, bit for bit. What happens at one
// instant happens in this order: completions, finished changes of layout, arrivals, repartitioning,
// and then one decision. docs/concepts/model.md has the whole of it.
//
// Fails when the layouts are illegal in number, when a job fits no profile of the GPU, or when jobs
// are left that no layout to come can run.
Result<RunResult> simulate(const workload::Trace& trace, const RunOptions& options,
                           decide::Scheduler& scheduler, decide::Repartitioner& repartitioner,
                           const RunExtras& extras = {});

}  // namespace partita::sim
