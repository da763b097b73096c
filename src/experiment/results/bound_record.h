// What no policy can beat on a day (docs/concepts/bounds.md), in the place of a run.
#pragma once

#include <functional>

#include "base/result.h"
#include "experiment/results/run_record.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::experiment {

struct BoundLimit {
  double seconds_max = 60;
  std::function<double()> clock = [] { return 0.0; };  // without one no limit strikes
  bool thorough = false;  // three times the work where jobs are many, for a percent or so
};

struct BoundOfDay {
  RunRecord record;
  bool cut_short = false;  // it holds, but a longer search may have proven more
};

// Energy, mean tardiness and ET of no policy are below those of the record; its other figures and
// its names are left empty. `interrupts`: whether a policy may interrupt jobs; where none does, the
// bound is tighter.
Result<BoundOfDay> bound_within(const BoundLimit& limit, const workload::Trace& day,
                                const sim::RunOptions& options, bool interrupts);

// The same, however long it takes.
Result<RunRecord> bound_record(const workload::Trace& day, const sim::RunOptions& options,
                               bool interrupts);

}  // namespace partita::experiment
