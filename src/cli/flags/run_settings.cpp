#include "cli/flags/run_settings.h"

#include <chrono>

#include "base/text.h"
#include "cli/flags/value_parsers.h"
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
  settings.options.queue.reserve_after = values.as<std::optional<Micros>>("reserve-after");
  settings.options.queue.fair_share = values.as<decide::FairOrder>("fair-share");
  settings.options.queue.half_life = values.seconds("half-life");
  if (values.given("shares") != nullptr) {
    settings.options.queue.weights =
        values.as<std::vector<std::pair<std::string, double>>>("shares");
  }
  settings.options.repartition_cost = values.as<sim::RepartitionCost>("repartition-cost");
  settings.options.memory.restart = values.seconds("memory-restart");
  settings.options.memory.early_restart =
      values.as<std::optional<decide::EarlyRestart>>("early-restart");
  settings.options.et_a = values.number("et-a");
  settings.options.estimate_error = values.number("estimate-error");
  settings.options.estimate_seed = values.count("seed");
  settings.options.measure_fragmentation = true;
  settings.policy = {values.text("scheduler"), values.text("repartition"), values.count("seed")};
  const auto repartitioner =
      policies::make_repartitioner(settings.policy.repartition, model, settings.options.gpus);
  if (!repartitioner) return values.wrong("repartition", repartitioner.error());
  return settings;
}

Result<std::vector<experiment::Policy>> policies_of(const Values& values, std::string_view flag,
                                                    const sim::RunOptions& options) {
  std::vector<experiment::Policy> policies;
  if (values.given(flag) == nullptr) return policies;
  const std::string text = values.text(flag);
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    auto policy = parse_policy(word);
    if (!policy) return values.wrong(flag, policy.error());
    const auto made =
        policies::make_repartitioner(policy->repartition, *options.model, options.gpus);
    if (!made) return values.wrong(flag, made.error());
    policy->seed = values.count("seed");
    policies.push_back(*std::move(policy));
  }
  return policies;
}

Micros horizon_of(const Values& values, Micros arrivals_end) {
  return values.given("horizon") != nullptr ? values.seconds("horizon") : arrivals_end;
}

double clock_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace partita::cli
