// RunSettings: what a run is to do, meant rather than typed; and the run itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags/values.h"
#include "cli/flags/workloads.h"
#include "sim/engine.h"
#include "sim/run.h"

namespace partita::cli {

struct RunSettings {
  sim::RunOptions options;
  std::string repartition;
  std::uint64_t seed = 0;
};

// The curve of --power, else the model's first.
Result<const mig::PowerCurve*> power_of(const Values& values, const mig::GpuModel& model);

// Checks everything that does not need the jobs, the layouts included.
Result<RunSettings> run_settings(const Values& values);

// The horizon is that of --horizon, else the end of the arrivals where it is known.
void set_horizon(RunSettings& settings, const Values& values, const RunJobs& jobs);

struct Finished {
  sim::RunResult result;
  double wall_s = 0;  // of the simulation alone
  // What the policies say they did of their own accord, a guard that fell back for example.
  std::vector<std::string> notes = {};
};
// An error means that the jobs cannot be run. REQUIRES: the scheduler is known.
Result<Finished> run_one(const workload::Trace& trace, const RunSettings& settings,
                         const std::string& scheduler, const sim::Progress& progress);

}  // namespace partita::cli
