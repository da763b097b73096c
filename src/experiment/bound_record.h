// What no policy can beat on a day (docs/concepts/bounds.md), in the place of a run.
#pragma once

#include "base/result.h"
#include "experiment/run_record.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::experiment {

// Energy, mean tardiness and ET of no policy are below those of the record; its other figures and
// its names are left empty. `interrupts`: whether a policy may interrupt jobs; where none does, the
// bound is tighter.
Result<RunRecord> bound_record(const workload::Trace& day, const sim::RunOptions& options,
                               bool interrupts);

}  // namespace partita::experiment
