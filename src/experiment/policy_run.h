// One policy on some jobs: what simulate, compare, size, evaluate, tune, advise and studies run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "decide/repartitioner.h"
#include "sim/engine.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::experiment {

// Both names as --scheduler and --repartition take them.
struct Policy {
  std::string scheduler;
  std::string repartition;
  std::uint64_t seed = 1;  // of policies that draw random numbers
};

struct PolicyRun {
  sim::RunResult result;
  double wall_s = 0;  // of the simulation alone; 0 without a clock
  // What the policies say they did of their own accord, a guard that fell back for example.
  std::vector<std::string> notes = {};
};

// What a run can do without.
struct RunWatch {
  sim::Progress progress = {};
  std::function<double()> clock = {};  // seconds
};

// An error means that there is no such policy, or that it cannot run the jobs.
Result<PolicyRun> run_policy(const workload::Trace& trace, const sim::RunOptions& options,
                             const Policy& policy, const RunWatch& watch = {});

// The same with a repartitioner that is there already; that of the policy is not looked at.
Result<PolicyRun> run_policy(const workload::Trace& trace, const sim::RunOptions& options,
                             const Policy& policy, decide::Repartitioner& repartitioner,
                             const RunWatch& watch = {});

}  // namespace partita::experiment
