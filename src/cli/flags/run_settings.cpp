#include "cli/flags/run_settings.h"

#include <chrono>

#include "base/check.h"
#include "mig/gpu_model.h"
#include "policies/registry.h"

namespace partita::cli {

Result<const mig::PowerCurve*> power_of(const Values& values, const mig::GpuModel& model) {
  if (values.given("power") == nullptr) return &model.power_curves.front();
  const auto curve = mig::find_power_curve(model, values.text("power"));
  if (!curve) return values.wrong("power", curve.error());
  return *curve;
}

Result<RunSettings> run_settings(const Values& values) {
  RunSettings settings;
  const mig::GpuModel& model = *values.as<const mig::GpuModel*>("gpu");
  settings.options.model = &model;
  settings.options.gpus = static_cast<std::uint32_t>(values.count("gpus"));
  const auto power = power_of(values, model);
  if (!power) return power.error();
  settings.options.power = *power;
  settings.options.preemption = values.as<decide::Preemption>("preemption");
  settings.options.repartition_cost = values.as<sim::RepartitionCost>("repartition-cost");
  settings.options.memory.restart = values.seconds("memory-restart");
  settings.options.memory.early_restart =
      values.as<std::optional<decide::EarlyRestart>>("early-restart");
  settings.options.et_a = values.number("et-a");
  settings.seed = values.count("seed");
  settings.options.estimate_error = values.number("estimate-error");
  settings.options.estimate_seed = settings.seed;
  settings.options.measure_fragmentation = true;
  settings.repartition = values.text("repartition");
  const auto repartitioner =
      policies::make_repartitioner(settings.repartition, model, settings.options.gpus);
  if (!repartitioner) return values.wrong("repartition", repartitioner.error());
  return settings;
}

void set_horizon(RunSettings& settings, const Values& values, const RunJobs& jobs) {
  settings.options.horizon =
      values.given("horizon") != nullptr ? values.seconds("horizon") : jobs.window_end;
}

Result<Finished> run_one(const workload::Trace& trace, const RunSettings& settings,
                         const std::string& scheduler, const sim::Progress& progress) {
  const auto policy = policies::make_scheduler(scheduler, settings.seed);
  const auto forecast_policy = policies::make_scheduler(scheduler, settings.seed);
  const auto repartitioner = policies::make_repartitioner(
      settings.repartition, *settings.options.model, settings.options.gpus);
  CHECK(policy.ok() && forecast_policy.ok() && repartitioner.ok());
  sim::RunExtras extras(progress);
  extras.forecast_scheduler = forecast_policy->get();
  const auto begin = std::chrono::steady_clock::now();
  Result<sim::RunResult> result =
      sim::simulate(trace, settings.options, **policy, **repartitioner, extras);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  if (!result) return result.error();
  Finished finished{*std::move(result), wall.count()};
  for (std::string note : {(*repartitioner)->take_note(), (*policy)->take_note()}) {
    if (!note.empty()) finished.notes.push_back(std::move(note));
  }
  return finished;
}

}  // namespace partita::cli
