#include "report/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "experiment/results/gaps.h"
#include "experiment/results/summary.h"
#include "report/weights.h"

namespace partita::report {
namespace {

using experiment::Difference;
using experiment::Estimate;
using experiment::Measure;
using experiment::PolicySummary;
using experiment::RunRecord;
using experiment::Summary;
using Json = nlohmann::ordered_json;

constexpr double kJoulesPerWattMinute = 60;
constexpr double kJoulesPerKwh = 3.6e6;

struct SettingRuns {
  std::string name;
  std::string reference;
  std::vector<RunRecord> runs;  // by policy and seed
};

std::vector<SettingRuns> by_setting(const PageInput& input) {
  std::map<std::string, std::vector<RunRecord>> found;
  for (const RunRecord& run : input.runs) {
    if (run.role == experiment::Role::kTest) found[run.setting].push_back(run);
  }
  std::vector<SettingRuns> settings;
  const auto take = [&](const std::string& name, const std::string& reference) {
    auto node = found.extract(name);
    if (node.empty()) return;
    std::ranges::sort(node.mapped(), {}, &RunRecord::key);
    const bool known = std::ranges::any_of(
        node.mapped(), [&](const RunRecord& run) { return run.policy == reference; });
    const std::string first = node.mapped().front().policy;
    settings.push_back({name, known ? reference : first, std::move(node.mapped())});
  };
  for (const SettingNote& note : input.notes.settings) take(note.name, note.reference);
  while (!found.empty()) take(found.begin()->first, "");
  return settings;
}

// What cannot be less than `least` is not said to be: the t interval of few days does not know.
Json interval_json(double mean, const std::optional<experiment::Interval>& interval, double scale,
                   double least) {
  Json json{{"mean", mean * scale}};
  if (interval) {
    json["low"] = std::max(interval->low, least) * scale;
    json["high"] = interval->high * scale;
  }
  return json;
}

Json estimate_json(const Estimate& estimate, double scale = 1) {
  return interval_json(estimate.mean, estimate.t, scale, 0);
}

// With the interval of the test that decides, so that it cannot contradict the verdict.
Json percent_json(const Difference& difference) {
  if (!difference.relative) return nullptr;
  return interval_json(difference.relative->share, difference.decision.interval, 100, -1);
}

Json days_percent_json(const Difference& difference) {
  if (!difference.days) return nullptr;
  Json json = interval_json(difference.days->mean, difference.days->decision.interval, 100, -1);
  json["least"] = 100 * difference.days->least;
  json["most"] = 100 * difference.days->most;
  return json;
}

std::string verdict_word(const Difference& difference) {
  switch (difference.verdict) {
    case experiment::Verdict::kLower:
      return "better";
    case experiment::Verdict::kHigher:
      return "worse";
    case experiment::Verdict::kUndecided:
      return difference.estimate.sd ? "undecided" : "one day";
  }
  CHECK(false);
}

Json difference_json(const PolicySummary& policy, bool until_decided) {
  if (!policy.differences) return nullptr;
  const Difference& et = (*policy.differences)[Measure::kEt];
  Json json{{"et_percent", percent_json(et)},
            {"energy_percent", percent_json((*policy.differences)[Measure::kEnergy])},
            {"tardiness_percent", percent_json((*policy.differences)[Measure::kTardiness])},
            {"et_day_percent", days_percent_json(et)}};
  // One day has no test, and where days were added until it was decided only one counts.
  const bool tested = et.estimate.sd.has_value();
  const double p_holm = until_decided ? et.p_anytime_holm : et.p_holm;
  json["p_adjusted"] = tested ? Json(et.decision.p_adjusted) : Json(nullptr);
  json["p_wilcoxon"] = tested && !until_decided ? Json(et.p_wilcoxon) : Json(nullptr);
  json["p_holm"] = tested ? Json(p_holm) : Json(nullptr);
  json["days_until_decided"] = et.days_until_decided ? Json(*et.days_until_decided) : Json(nullptr);
  json["verdict"] = verdict_word(et);
  return json;
}

// Means over the days of what the summary does not have.
Json means_json(std::span<const RunRecord> days) {
  Json json;
  const auto add = [&](const char* name, const auto& value_of) {
    double sum = 0;
    for (const RunRecord& day : days) sum += static_cast<double>(value_of(day));
    json[name] = sum / static_cast<double>(days.size());
  };
  add("late_share", [](const RunRecord& day) { return day.late_share; });
  add("p50_tardiness_s", [](const RunRecord& day) { return day.p50_tardiness_s; });
  add("p95_tardiness_s", [](const RunRecord& day) { return day.p95_tardiness_s; });
  add("p99_tardiness_s", [](const RunRecord& day) { return day.p99_tardiness_s; });
  add("max_tardiness_s", [](const RunRecord& day) { return day.max_tardiness_s; });
  add("mean_wait_s", [](const RunRecord& day) { return day.mean_wait_s; });
  add("compute_utilisation", [](const RunRecord& day) { return day.compute_utilisation; });
  add("memory_utilisation", [](const RunRecord& day) { return day.memory_utilisation; });
  add("preemptions", [](const RunRecord& day) { return day.preemptions; });
  add("repartitions", [](const RunRecord& day) { return day.repartitions; });
  add("instances_created", [](const RunRecord& day) { return day.instances_created; });
  add("jobs", [](const RunRecord& day) { return day.jobs; });
  return json;
}

Json points_json(std::span<const RunRecord> days) {
  Json points = Json::array();
  for (const RunRecord& day : days) {
    points.push_back({{"seed", day.seed},
                      {"energy_w_min", day.energy_w_min},
                      {"mean_tardiness_s", day.mean_tardiness_s},
                      {"et", day.et}});
  }
  return points;
}

// The days of one policy. REQUIRES: the runs are by policy and seed.
std::span<const RunRecord> days_of(std::span<const RunRecord> runs, const std::string& policy) {
  const auto first = std::ranges::lower_bound(runs, policy, {}, &RunRecord::policy);
  const auto last = std::ranges::upper_bound(runs, policy, {}, &RunRecord::policy);
  return {first, last};
}

Json policy_json(const PolicySummary& policy, std::span<const RunRecord> days, bool until_decided,
                 const Json& extra) {
  const double a = days.front().et_a;
  const Estimate& energy = policy.estimates[Measure::kEnergy];
  const Estimate& tardiness = policy.estimates[Measure::kTardiness];
  Json json{{"name", policy.policy},
            {"scheduler", policy.scheduler},
            {"repartition", policy.repartition},
            {"days", days.size()},
            {"et", estimate_json(policy.estimates[Measure::kEt])},
            {"energy_w_min", estimate_json(energy, 1 / kJoulesPerWattMinute)},
            {"mean_tardiness_s", estimate_json(tardiness)},
            {"energy_kwh", energy.mean / kJoulesPerKwh},
            {"et_energy_part", a * energy.mean / kJoulesPerWattMinute / (a + 1)},
            {"et_tardiness_part", tardiness.mean / 60 / (a + 1)}};
  json.update(means_json(days));
  json["diff"] = difference_json(policy, until_decided);
  json["extra"] = extra;
  json["points"] = points_json(days);
  return json;
}

// Means of what no schedule can beat, and how far above it a policy is; null without.
Json bounds_json(const std::optional<experiment::SettingGaps>& gaps) {
  if (!gaps) return nullptr;
  return {{"days", gaps->days},
          {"et", estimate_json(gaps->bound[Measure::kEt])},
          {"energy_w_min", estimate_json(gaps->bound[Measure::kEnergy], 1 / kJoulesPerWattMinute)},
          {"mean_tardiness_s", estimate_json(gaps->bound[Measure::kTardiness])}};
}

Json gap_json(const std::optional<experiment::SettingGaps>& gaps, const std::string& policy) {
  if (!gaps) return nullptr;
  const auto found = std::ranges::find(gaps->gaps, policy, &experiment::Gap::policy);
  if (found == gaps->gaps.end()) return nullptr;
  const auto percent = [&](Measure measure) {
    const auto& over = found->over[measure];
    return over ? interval_json(over->share, over->interval, 100, 0) : Json(nullptr);
  };
  return {{"et_percent", percent(Measure::kEt)},
          {"energy_percent", percent(Measure::kEnergy)},
          {"tardiness_percent", percent(Measure::kTardiness)}};
}

Json extra_of(const StudyNotes& notes, const std::string& setting, const std::string& policy) {
  const auto of_setting = notes.extra.find(setting);
  if (of_setting == notes.extra.end() || !of_setting->is_object()) return Json::object();
  const auto of_policy = of_setting->find(policy);
  if (of_policy == of_setting->end() || !of_policy->is_object()) return Json::object();
  return *of_policy;
}

Json setting_json(const SettingRuns& setting, const Summary& summary, const PageInput& input) {
  const StudyNotes& notes = input.notes;
  const auto gaps = experiment::gaps_of(setting.name, setting.runs, input.bounds);
  Json json{{"name", setting.name}, {"reference", setting.reference}};
  json["days_min"] = summary.days_min;
  json["gpus"] = setting.runs.front().gpus;
  json["a"] = setting.runs.front().et_a;
  json["bounds"] = bounds_json(gaps);
  json["policies"] = Json::array();
  for (const PolicySummary& policy : summary.policies) {
    json["policies"].push_back(policy_json(policy, days_of(setting.runs, policy.policy),
                                           notes.until_decided,
                                           extra_of(notes, setting.name, policy.policy)));
    json["policies"].back()["gap"] = gap_json(gaps, policy.policy);
  }
  return json;
}

void append_pareto(const SettingRuns& setting, const Summary& summary, Json& pareto) {
  std::vector<Outlay> outlays;
  for (const PolicySummary& policy : summary.policies) {
    outlays.push_back({policy.estimates[Measure::kEnergy].mean / kJoulesPerWattMinute,
                       policy.estimates[Measure::kTardiness].mean / 60});
  }
  const auto ranges = best_weights(outlays);
  for (std::size_t i = 0; i < outlays.size(); ++i) {
    Json best = nullptr;
    if (ranges[i]) {
      best = {{"from", ranges[i]->from}, {"to", ranges[i]->to ? Json(*ranges[i]->to) : nullptr}};
    }
    pareto.push_back({{"setting", setting.name},
                      {"policy", summary.policies[i].policy},
                      {"a", setting.runs.front().et_a},
                      {"energy_w_min", outlays[i].energy_w_min},
                      {"mean_tardiness_s", outlays[i].tardiness_min * 60},
                      {"best", std::move(best)}});
  }
}

// Settings named "a=..." are one experiment at several weights: each shows the points of all.
void share_weights(Json& pareto) {
  const auto is_weight = [](const Json& point) {
    return point["setting"].get_ref<const std::string&>().starts_with("a=");
  };
  std::set<std::string> settings;
  std::vector<Json> points;
  for (const Json& point : pareto) {
    if (!is_weight(point)) continue;
    settings.insert(point["setting"].get<std::string>());
    points.push_back(point);
  }
  for (const std::string& setting : settings) {
    for (Json point : points) {
      if (point["setting"] == setting) continue;
      point["setting"] = setting;
      point["best"] = nullptr;
      pareto.push_back(std::move(point));
    }
  }
}

}  // namespace

Result<Json> page_data(const PageInput& input) {
  const std::vector<SettingRuns> settings = by_setting(input);
  if (settings.empty()) return Error{"no runs on test days"};
  Json json{{"title", input.notes.title},
            {"generated_by", input.notes.generated_by},
            {"source", input.notes.source},
            {"settings", Json::array()},
            {"pareto", Json::array()}};
  for (const SettingRuns& setting : settings) {
    experiment::SummaryOptions options;
    options.reference = setting.reference;
    if (input.notes.until_decided) options.plan = experiment::Plan::kUntilDecided;
    const auto summary = experiment::summarise(setting.runs, options);
    if (!summary && setting.name.empty()) return summary.error();
    if (!summary) {
      return Error{fmt::format("setting '{}': {}", setting.name, summary.error().message)};
    }
    json["settings"].push_back(setting_json(setting, *summary, input));
    append_pareto(setting, *summary, json["pareto"]);
  }
  share_weights(json["pareto"]);
  json["day"] = input.days;
  json["figures"] = input.notes.figures;
  return json;
}

}  // namespace partita::report
