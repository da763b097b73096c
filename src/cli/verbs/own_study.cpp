#include "cli/verbs/own_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/flags/day_sources.h"
#include "cli/flags/generator_options.h"
#include "cli/flags/run_settings.h"
#include "experiment/studies/studies.h"

namespace partita::cli {
namespace {

using experiment::StudyPolicy;
using experiment::StudySetting;

// Of the preset or the file, for the names of result files.
std::string name_of(const Values& values) {
  const Value* scenario = values.given("scenario");
  const std::string from = scenario != nullptr               ? scenario->text
                           : values.given("jobs") != nullptr ? values.text("jobs")
                                                             : "own";
  std::string stem = std::filesystem::path(from).filename().string();
  stem = stem.substr(0, stem.find('.'));
  return stem.empty() ? "own" : stem;
}

// What looking ahead should expect of the hours of a day.
std::string profile_of(const Values& values) {
  const auto origin = job_origin(values);
  if (*origin == "papers") return "papers";
  return *origin == "realistic" ? values.text("profile") : "flat";
}

// The more GPUs, the more happens between two changes that matter; a fleet that is looked at
// through a sample sees to that itself.
std::string pace_of(const Values& values) {
  constexpr std::uint64_t kEventsPerGpu = 4;
  constexpr std::uint64_t kSampledFrom = 16;
  return fmt::format("every={}", kEventsPerGpu * std::min(kSampledFrom, values.count("gpus")));
}

std::vector<StudyPolicy> usual_policies(const Values& values) {
  const std::string scheduler = values.text("scheduler");
  const std::string repartition = values.text("repartition");
  std::vector<StudyPolicy> policies{{"as set", scheduler, repartition}};
  if (repartition != "none") policies.push_back({"whole GPUs", scheduler, "none"});
  if (!repartition.starts_with("lookahead")) {
    const bool from_static =
        repartition.starts_with("static:") && repartition.find(';') == std::string::npos;
    policies.push_back({"looking ahead", scheduler,
                        experiment::lookahead_from(from_static ? repartition : "static:1",
                                                   profile_of(values), pace_of(values))});
  }
  policies.push_back(experiment::on_demand_policy("first-fit"));
  policies.push_back(experiment::on_demand_policy("least-fragmenting"));
  return policies;
}

StudyPolicy policy_of(const PolicyEntry& entry, const Values& values) {
  const auto or_set = [&](const std::string& text, std::string_view flag) {
    return text.empty() ? values.text(flag) : text;
  };
  StudyPolicy policy{entry.name, or_set(entry.scheduler, "scheduler"),
                     or_set(entry.repartition, "repartition")};
  policy.preemption = entry.preemption;
  policy.cost = entry.repartition_cost;
  return policy;
}

}  // namespace

Result<experiment::Study> own_study(const Values& values, const Console& console) {
  const auto settings = run_settings(values);
  if (!settings) return settings.error();
  const sim::RunOptions& options = settings->options;
  auto days = day_source(values, console);
  if (!days) return days.error();
  StudySetting setting;
  setting.days = *std::move(days);
  if (values.given("horizon") != nullptr) setting.days.window = values.seconds("horizon");
  setting.gpu = values.text("gpu");
  setting.gpus = options.gpus;
  setting.power = options.power->name;
  setting.preemption = options.preemption;
  setting.cost = options.repartition_cost;
  setting.memory = options.memory;
  setting.estimate_error = options.estimate_error;
  setting.et_a = options.et_a;
  for (const PolicyEntry& entry : values.policies) {
    setting.policies.push_back(policy_of(entry, values));
  }
  if (setting.policies.empty()) setting.policies = usual_policies(values);
  experiment::Study study;
  study.name = name_of(values);
  study.settings = {std::move(setting)};
  return study;
}

}  // namespace partita::cli
