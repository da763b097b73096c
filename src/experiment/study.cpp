#include "experiment/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/text.h"
#include "experiment/make_record.h"
#include "experiment/seeds.h"
#include "policies/registry.h"
#include "sim/engine.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita::experiment {
namespace {

constexpr const char* kGpu = "a100-40gb";
constexpr Micros kDay = Micros::seconds(86'400);
// An interval that reaches further than this from its middle, as a share of the published figure,
// says too little to speak of reproduction.
constexpr double kWideShare = 0.15;

workload::Trace day_of(const StudySetting& setting, std::uint64_t seed) {
  workload::PapersOptions options;
  options.rate = setting.rate;
  options.mix.deadline_low = setting.deadline_low;
  options.mix.deadline_high = setting.deadline_high;
  options.mix.training_share = setting.training_share;
  options.seed = seed;
  const auto source = workload::make_papers(options);
  CHECK(source.ok());
  auto trace = workload::read_all(**source);
  CHECK(trace.ok());
  return *std::move(trace);
}

mig::PowerCurve power_of(const StudySetting& setting) {
  const auto power = mig::find_power_curve(**mig::find_gpu(kGpu), setting.power);
  CHECK(power.ok());
  mig::PowerCurve scaled = **power;
  for (double& watts : scaled.watts) watts *= setting.power_scale;
  return scaled;
}

// REQUIRES: the curve outlives the options.
sim::RunOptions options_of(const StudySetting& setting, const mig::PowerCurve& power) {
  sim::RunOptions options;
  options.model = *mig::find_gpu(kGpu);
  options.gpus = setting.gpus;
  options.power = &power;
  options.preemption = {setting.preemption, setting.preemption_cost};
  options.repartition_cost = setting.cost;
  options.horizon = kDay;
  options.et_a = setting.et_a;
  return options;
}

Result<RunRecord> run_day(const Study& study, const StudySetting& setting,
                          const StudyPolicy& policy, std::uint64_t seed) {
  const mig::PowerCurve power = power_of(setting);
  const sim::RunOptions options = options_of(setting, power);
  const auto scheduler = policies::make_scheduler(policy.scheduler, seed);
  const auto forecast_scheduler = policies::make_scheduler(policy.scheduler, seed);
  const auto repartitioner =
      policies::make_repartitioner(policy.repartition, *options.model, options.gpus);
  CHECK(scheduler.ok() && forecast_scheduler.ok() && repartitioner.ok());
  sim::RunExtras extras;
  extras.forecast_scheduler = forecast_scheduler->get();
  const auto result =
      sim::simulate(day_of(setting, seed), options, **scheduler, **repartitioner, extras);
  if (!result) return result.error();
  return make_record({study.name, setting.name, policy.name, policy.scheduler, policy.repartition,
                      seed, Role::kTest},
                     options, *result);
}

// Whether every policy of the setting can be made, before anything runs.
Status check_policies(const StudySetting& setting) {
  const mig::GpuModel& model = **mig::find_gpu(kGpu);
  for (const StudyPolicy& policy : setting.policies) {
    const auto facts = policies::scheduler_facts(policy.scheduler);
    if (!facts) return facts.error();
    const auto made = policies::make_repartitioner(policy.repartition, model, setting.gpus);
    if (!made) return made.error();
  }
  return {};
}

std::vector<double> values_of(std::span<const RunRecord> records, const std::string& setting,
                              const std::string& policy, Claim::Kind kind) {
  std::vector<double> values;
  for (const RunRecord& record : records) {
    if (record.setting != setting || record.policy != policy) continue;
    switch (kind) {
      case Claim::Kind::kTardinessMin:
        values.push_back(record.mean_tardiness_s / 60);
        break;
      case Claim::Kind::kEnergyMWMin:
        values.push_back(record.energy_w_min / 1e6);
        break;
      case Claim::Kind::kLatePercent:
        values.push_back(100 * record.late_share);
        break;
      case Claim::Kind::kEtGainPercent:
        values.push_back(record.et);
        break;
    }
  }
  return values;
}

JudgedClaim judge_gain(const Claim& claim, std::span<const RunRecord> records) {
  const std::vector<double> policy = values_of(records, claim.setting, claim.policy, claim.kind);
  const std::vector<double> other = values_of(records, claim.setting, claim.other, claim.kind);
  JudgedClaim judged{&claim, 0, {}, ClaimVerdict::kNotReproduced};
  if (policy.empty() || policy.size() != other.size()) return judged;
  const auto change = relative_difference(policy, other);
  if (!change) return judged;
  judged.ours = -100 * change->share;
  if (change->interval) {
    judged.interval = Interval{-100 * change->interval->high, -100 * change->interval->low};
  }
  return judged;
}

JudgedClaim judge_mean(const Claim& claim, std::span<const RunRecord> records) {
  const std::vector<double> values = values_of(records, claim.setting, claim.policy, claim.kind);
  JudgedClaim judged{&claim, 0, {}, ClaimVerdict::kNotReproduced};
  if (values.empty()) return judged;
  judged.ours = mean(values);
  judged.interval = t_interval(values);
  return judged;
}

}  // namespace

Result<const Study*> find_study(std::string_view name) {
  std::vector<std::string> known;
  for (const Study& study : studies()) {
    if (study.name == name) return &study;
    known.push_back(study.name);
  }
  return unknown_name("experiment", name, known);
}

std::string definition_of(const Study& study, std::string_view version) {
  std::string text = fmt::format("partita {} experiment {}\n", version, study.name);
  for (const StudySetting& setting : study.settings) {
    text += fmt::format(
        "setting {}: rate {} deadline {}:{} training {} gpus {} power {} x {} preemption {} {} "
        "cost "
        "{} et_a {}\n",
        setting.name, setting.rate, setting.deadline_low, setting.deadline_high,
        setting.training_share, setting.gpus, setting.power, setting.power_scale,
        static_cast<int>(setting.preemption), setting.preemption_cost.count,
        static_cast<int>(setting.cost), setting.et_a);
    for (const StudyPolicy& policy : setting.policies) {
      text += fmt::format("  {}: {} {}\n", policy.name, policy.scheduler, policy.repartition);
    }
  }
  return text;
}

Result<std::vector<Task>> tasks_of(const Study& study, std::uint64_t days) {
  std::vector<Task> tasks;
  for (const StudySetting& setting : study.settings) {
    const Status made = check_policies(setting);
    if (!made) return made.error();
    for (const StudyPolicy& policy : setting.policies) {
      for (std::uint64_t day = 0; day < days; ++day) {
        const std::uint64_t seed = day_seed(Role::kTest, day);
        tasks.push_back({{setting.name, policy.name, seed}, [&study, &setting, &policy, seed] {
                           return run_day(study, setting, policy, seed);
                         }});
      }
    }
  }
  return tasks;
}

std::vector<JudgedClaim> judge_claims(const Study& study, std::span<const RunRecord> records) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : study.claims) {
    const bool gain = claim.kind == Claim::Kind::kEtGainPercent;
    JudgedClaim each = gain ? judge_gain(claim, records) : judge_mean(claim, records);
    const double slack = gain ? claim.tolerance : claim.tolerance * claim.published;
    const Interval ours = each.interval.value_or(Interval{each.ours, each.ours});
    const bool near = claim.published >= ours.low - slack && claim.published <= ours.high + slack;
    const bool wide = (ours.high - ours.low) / 2 > kWideShare * claim.published;
    each.verdict = !near  ? ClaimVerdict::kNotReproduced
                   : wide ? ClaimVerdict::kTooFewDays
                          : ClaimVerdict::kReproduced;
    judged.push_back(std::move(each));
  }
  return judged;
}

}  // namespace partita::experiment
