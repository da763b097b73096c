#include "experiment/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/named.h"
#include "experiment/day_file.h"
#include "experiment/policy_run.h"
#include "experiment/results/bound_record.h"
#include "experiment/results/make_record.h"
#include "experiment/seeds.h"
#include "experiment/studies/studies.h"
#include "policies/registry.h"

namespace partita::experiment {
namespace {

// The setting's curve, scaled. REQUIRES: check_setting.
mig::PowerCurve power_of(const StudySetting& setting) {
  const mig::GpuModel& model = **mig::find_gpu(setting.gpu);
  mig::PowerCurve scaled = setting.power.empty() ? model.power_curves.front()
                                                 : **mig::find_power_curve(model, setting.power);
  for (double& watts : scaled.watts) watts *= setting.power_scale;
  return scaled;
}

// REQUIRES: the curve outlives the options.
sim::RunOptions options_of(const StudySetting& setting, const StudyPolicy& policy,
                           const mig::PowerCurve& power, std::uint64_t seed) {
  sim::RunOptions options;
  options.model = *mig::find_gpu(setting.gpu);
  options.gpus = setting.gpus;
  options.power = &power;
  options.preemption = policy.preemption.value_or(setting.preemption);
  options.repartition_cost = policy.cost.value_or(setting.cost);
  options.memory = policy.memory.value_or(setting.memory);
  options.queue = policy.queue.value_or(setting.queue);
  options.horizon = setting.days.window;
  options.estimate_error = setting.estimate_error;
  options.estimate_seed = seed;
  options.et_a = setting.et_a;
  options.keep_layouts = setting.keep_layouts;
  options.measure_fragmentation = setting.measure_fragmentation;
  return options;
}

Result<RunRecord> run_day(const Study& study, const StudySetting& setting,
                          const StudyPolicy& policy, std::uint64_t seed) {
  const mig::PowerCurve power = power_of(setting);
  const sim::RunOptions options = options_of(setting, policy, power, seed);
  const auto day = setting.days.make(seed);
  if (!day) return day.error();
  const auto run = run_policy(*day, options, {policy.scheduler, policy.repartition, seed});
  if (!run) return run.error();
  return make_record({study.name, setting.name, policy.name, policy.scheduler, policy.repartition,
                      seed, Role::kTest},
                     options, run->result);
}

// Whether a policy of the setting may interrupt jobs.
bool interrupts(const StudySetting& setting) {
  return std::ranges::any_of(setting.policies, [&](const StudyPolicy& policy) {
    return policy.preemption.value_or(setting.preemption).mode != decide::Preemption::Mode::kNone;
  });
}

// Bounds in the place of results: energy, mean tardiness and ET of no policy are below them.
Result<RunRecord> bound_day(const Study& study, const StudySetting& setting, std::uint64_t seed) {
  const mig::PowerCurve power = power_of(setting);
  const auto day = setting.days.make(seed);
  if (!day) return day.error();
  const sim::RunOptions options = options_of(setting, {}, power, seed);
  auto record = bound_record(*day, options, interrupts(setting));
  if (!record) return record.error();
  record->experiment = study.name;
  record->setting = setting.name;
  record->seed = seed;
  return record;
}

// Jobs an hour, as the mean over some test days.
Result<std::vector<double>> expected_arrivals(const DaySource& days) {
  constexpr std::uint64_t kDays = 20;
  constexpr std::size_t kHours = 24;
  const std::uint64_t count = std::min(kDays, days.test_days_max);
  std::vector<double> jobs(kHours, 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto day = days.make(day_seed(Role::kTest, i));
    if (!day) return day.error();
    for (const workload::Job& job : day->jobs) {
      const auto hour = static_cast<std::size_t>(job.arrival.count / Micros::seconds(3600).count);
      if (hour < kHours) jobs[hour] += 1.0 / static_cast<double>(count);
    }
  }
  return jobs;
}

// Whether everything in the setting exists, before anything runs.
Status check_setting(const StudySetting& setting) {
  const auto model = mig::find_gpu(setting.gpu);
  if (!model) return model.error();
  if (!setting.power.empty()) {
    const auto power = mig::find_power_curve(**model, setting.power);
    if (!power) return power.error();
  }
  for (const StudyPolicy& policy : setting.policies) {
    const auto facts = policies::scheduler_facts(policy.scheduler);
    if (!facts) return facts.error();
    const auto made = policies::make_repartitioner(policy.repartition, **model, setting.gpus);
    if (!made) return made.error();
  }
  return {};
}

std::string preemption_text(const decide::Preemption& preemption) {
  return fmt::format("{} {}", static_cast<int>(preemption.mode), preemption.cost.count);
}

std::string memory_text(const sim::MemoryRules& memory) {
  std::string text = fmt::format(" memory restart {}", memory.restart.count);
  if (!memory.early_restart) return text;
  const decide::EarlyRestart& rule = *memory.early_restart;
  return text + fmt::format(" early {} {} {} {} {}", rule.readings, rule.window, rule.least, rule.z,
                            rule.confirmations);
}

// Nothing where no rule holds, so that what was defined before there were any stays the same.
std::string queue_text(const decide::QueueRules& queue) {
  std::string text;
  if (queue.reserve_after) text += fmt::format(" reserve after {}", queue.reserve_after->count);
  if (!queue.fair()) return text;
  text += fmt::format(" share {} {}", static_cast<int>(queue.fair_share), queue.half_life.count);
  for (const auto& [user, weight] : queue.weights) text += fmt::format(" {}={}", user, weight);
  return text;
}

std::string policy_text(const StudyPolicy& policy) {
  std::string text = fmt::format("  {}: {} {}", policy.name, policy.scheduler, policy.repartition);
  if (policy.preemption) text += " preemption " + preemption_text(*policy.preemption);
  if (policy.cost) text += fmt::format(" cost {}", static_cast<int>(*policy.cost));
  if (policy.memory) text += memory_text(*policy.memory);
  if (policy.queue) text += queue_text(*policy.queue);
  return text + "\n";
}

}  // namespace

const std::vector<Study>& studies() {
  static const std::vector<Study> kStudies{
      ccgrid25_study(),    migm_study(),      real_workloads_study(), reservations_study(),
      sensitivity_study(), smart_mig_study(), tech_report_study(),    weights_study()};
  return kStudies;
}

Result<const Study*> find_study(std::string_view name) {
  return find_named("experiment", name, studies(), &Study::name);
}

std::string definition_of(const Study& study, std::string_view version) {
  std::string text = fmt::format("partita {} experiment {}\n", version, study.name);
  for (const StudySetting& setting : study.settings) {
    text += fmt::format(
        "setting {}: {}; {} {} power {} x {} preemption {} cost {} estimates {} et_a {}{}\n",
        setting.name, setting.days.text, setting.gpus, setting.gpu, setting.power,
        setting.power_scale, preemption_text(setting.preemption), static_cast<int>(setting.cost),
        setting.estimate_error, setting.et_a,
        memory_text(setting.memory) + queue_text(setting.queue));
    for (const StudyPolicy& policy : setting.policies) text += policy_text(policy);
  }
  return text;
}

Result<nlohmann::ordered_json> detailed_day(const StudySetting& setting, const StudyPolicy& policy,
                                            std::uint64_t seed) {
  const mig::PowerCurve power = power_of(setting);
  sim::RunOptions options = options_of(setting, policy, power, seed);
  options.keep_jobs = true;
  options.keep_schedule = true;
  const auto trace = setting.days.make(seed);
  if (!trace) return trace.error();
  const auto run = run_policy(*trace, options, {policy.scheduler, policy.repartition, seed});
  if (!run) return run.error();
  const auto expected = expected_arrivals(setting.days);
  if (!expected) return expected.error();
  return day_json(
      {setting.name, policy.name, policy.scheduler, policy.repartition, seed, *expected}, *trace,
      options, run->result);
}

Result<std::vector<Task>> tasks_of(const Study& study, std::uint64_t days) {
  std::vector<Task> tasks;
  for (const StudySetting& setting : study.settings) {
    const Status good = check_setting(setting);
    if (!good) return good.error();
    for (const StudyPolicy& policy : setting.policies) {
      for (std::uint64_t day = 0; day < std::min(days, setting.days.test_days_max); ++day) {
        const std::uint64_t seed = day_seed(Role::kTest, day);
        tasks.push_back({{setting.name, policy.name, seed}, [&study, &setting, &policy, seed] {
                           return run_day(study, setting, policy, seed);
                         }});
      }
    }
  }
  return tasks;
}

Result<std::vector<Task>> bound_tasks_of(const Study& study, std::uint64_t days) {
  std::vector<Task> tasks;
  for (const StudySetting& setting : study.settings) {
    const Status good = check_setting(setting);
    if (!good) return good.error();
    for (std::uint64_t day = 0; day < std::min(days, setting.days.test_days_max); ++day) {
      const std::uint64_t seed = day_seed(Role::kTest, day);
      tasks.push_back({{setting.name, std::string(kBoundName), seed},
                       [&study, &setting, seed] { return bound_day(study, setting, seed); }});
    }
  }
  return tasks;
}

}  // namespace partita::experiment
