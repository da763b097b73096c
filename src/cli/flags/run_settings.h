// RunSettings: what a run is to do, meant rather than typed.
#pragma once

#include "base/result.h"
#include "cli/flags/values.h"
#include "experiment/policy_run.h"

namespace partita::cli {

struct RunSettings {
  sim::RunOptions options;
  experiment::Policy policy;
};

// The curve of --power, else the model's first.
Result<const mig::PowerCurve*> power_of(const Values& values, const mig::GpuModel& model);

// Checks everything that does not need the jobs, the layouts included.
Result<RunSettings> run_settings(const Values& values);

// The policies of a flag, SCHEDULER/REPARTITIONER separated by blanks; none when it is not given.
Result<std::vector<experiment::Policy>> policies_of(const Values& values, std::string_view flag,
                                                    const sim::RunOptions& options);

// That of --horizon, else the end of the arrivals where it is known.
Micros horizon_of(const Values& values, Micros arrivals_end);

// Seconds of this process's clock, for limits and times.
double clock_seconds();

}  // namespace partita::cli
