#include "experiment/policy_run.h"

#include "base/check.h"
#include "policies/registry.h"

namespace partita::experiment {

Result<PolicyRun> run_policy(const workload::Trace& trace, const sim::RunOptions& options,
                             const Policy& policy, decide::Repartitioner& repartitioner,
                             const RunWatch& watch) {
  const auto scheduler = policies::make_scheduler(policy.scheduler, policy.seed);
  if (!scheduler) return scheduler.error();
  const auto forecast_scheduler = policies::make_scheduler(policy.scheduler, policy.seed);
  if (!forecast_scheduler) return forecast_scheduler.error();
  sim::RunExtras extras(watch.progress);
  extras.forecast_scheduler = forecast_scheduler->get();
  extras.make_scheduler = [&policy] {
    auto made = policies::make_scheduler(policy.scheduler, policy.seed);
    CHECK(made.ok());  // it could be made above
    return *std::move(made);
  };
  const double begin = watch.clock ? watch.clock() : 0;
  Result<sim::RunResult> result = sim::simulate(trace, options, **scheduler, repartitioner, extras);
  const double end = watch.clock ? watch.clock() : 0;
  if (!result) return result.error();
  PolicyRun run{*std::move(result), end - begin};
  for (std::string note : {repartitioner.take_note(), (*scheduler)->take_note()}) {
    if (!note.empty()) run.notes.push_back(std::move(note));
  }
  return run;
}

Result<PolicyRun> run_policy(const workload::Trace& trace, const sim::RunOptions& options,
                             const Policy& policy, const RunWatch& watch) {
  const auto repartitioner =
      policies::make_repartitioner(policy.repartition, *options.model, options.gpus);
  if (!repartitioner) return repartitioner.error();
  return run_policy(trace, options, policy, **repartitioner, watch);
}

}  // namespace partita::experiment
