#include "experiment/results/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/text.h"
#include "experiment/statistics/holm.h"
#include "experiment/statistics/wilcoxon.h"

namespace partita::experiment {
namespace {

// The days of one policy, by seed.
using Days = std::map<std::uint64_t, const RunRecord*>;
using Policies = std::map<std::string, Days>;
using Series = std::vector<double>;

Status same_kind(const RunRecord& first, const RunRecord& other) {
  const auto differ = [&](std::string_view what, std::string_view a, std::string_view b) {
    return Error{
        fmt::format("runs of two {}s, '{}' and '{}', cannot be summarised together", what, a, b)};
  };
  if (first.experiment != other.experiment) {
    return differ("experiment", first.experiment, other.experiment);
  }
  if (first.setting != other.setting) return differ("setting", first.setting, other.setting);
  if (first.role != other.role) return differ("role", role_name(first.role), role_name(other.role));
  return {};
}

Result<Policies> by_policy(std::span<const RunRecord> records) {
  Policies policies;
  for (const RunRecord& record : records) {
    if (const Status same = same_kind(records.front(), record); !same) return same.error();
    if (!policies[record.policy].emplace(record.seed, &record).second) {
      return Error{fmt::format("the run {} is there twice", record.key().text())};
    }
  }
  return policies;
}

// "policy 'b' was not run on day 7, on which 'a' was".
Status same_days(const Policies& policies, const std::string& reference) {
  const auto missing = [](const Days& there, const Days& here) -> std::optional<std::uint64_t> {
    for (const auto& [seed, record] : there) {
      if (!here.contains(seed)) return seed;
    }
    return std::nullopt;
  };
  const Days& wanted = policies.at(reference);
  for (const auto& [policy, days] : policies) {
    const auto here = missing(wanted, days);
    const auto there = missing(days, wanted);
    if (!here && !there) continue;
    return Error{fmt::format("policy '{}' was not run on day {}, on which '{}' was",
                             here ? policy : reference, here ? *here : *there,
                             here ? reference : policy)};
  }
  return {};
}

// Sorted by name with the reference first.
std::vector<std::string> order_of(const Policies& policies, const std::string& reference) {
  std::vector<std::string> names{reference};
  for (const auto& [policy, days] : policies) {
    if (policy != reference) names.push_back(policy);
  }
  return names;
}

Series series_of(const Days& days, Measure measure) {
  Series series;
  for (const auto& [seed, record] : days) series.push_back(value_of(*record, measure));
  return series;
}

Estimate estimate_of(const Series& series, const Bootstrap& options) {
  Estimate estimate{mean(series), std::nullopt, t_interval(series, options.confidence), {}};
  if (series.size() >= 2) estimate.sd = sample_sd(series);
  return estimate;
}

// The test of the plan, at its level. A level of all comparisons over their number (Bonferroni),
// since it is the intervals that are to hold together.
class Judge {
 public:
  Judge(const SummaryOptions& options, std::size_t days, std::size_t compared)
      : plan_(options.plan),
        rule_(options.rule),
        compared_(static_cast<double>(std::max<std::size_t>(1, compared))),
        flips_(days, options.bootstrap.seed, options.splits) {
    rule_.alpha /= compared_;
  }

  double level() const { return rule_.alpha; }
  std::uint64_t days_min() const {
    return plan_ == Plan::kFixedDays ? flip_days_min(level()) : anytime_days_min(rule_);
  }

  Decision of_mean(const Series& values) const {
    if (plan_ == Plan::kUntilDecided) {
      return adjusted(anytime_p(values, rule_), anytime_interval(values, rule_));
    }
    const FlipTest test = flips_.mean(values, level());
    return adjusted(test.p, test.interval);
  }
  // REQUIRES: the reference's mean is positive.
  Decision of_ratio(const Series& policy, const Series& reference) const {
    if (plan_ == Plan::kUntilDecided) {
      const Series differences = paired_differences(policy, reference);
      return adjusted(anytime_p(differences, rule_),
                      anytime_ratio_interval(policy, reference, rule_));
    }
    const FlipTest test = flips_.ratio(policy, reference, level());
    return adjusted(test.p, test.interval);
  }

 private:
  Decision adjusted(double p, const std::optional<Interval>& interval) const {
    return {p, std::min(1.0, p * compared_), interval};
  }

  Plan plan_;
  SequentialRule rule_;
  double compared_;
  SignFlips flips_;
};

std::optional<DayRatios> day_ratios_of(const Series& policy, const Series& reference,
                                       const Judge& judge) {
  Series logs(policy.size());
  for (std::size_t day = 0; day < policy.size(); ++day) {
    if (!(policy[day] > 0) || !(reference[day] > 0)) return std::nullopt;
    logs[day] = std::log(policy[day] / reference[day]);
  }
  const auto [least, most] = std::ranges::minmax(logs);
  DayRatios ratios{std::expm1(mean(logs)), std::expm1(least), std::expm1(most),
                   judge.of_mean(logs)};
  if (auto& interval = ratios.decision.interval) {
    interval = Interval{std::expm1(interval->low), std::expm1(interval->high)};
  }
  return ratios;
}

bool none_negative(const Series& series) {
  return std::ranges::all_of(series, [](double value) { return value >= 0; });
}

// Everything but the bootstrap and what Holm's correction makes of it.
Difference difference_of(const Series& policy, const Series& reference, const Judge& judge,
                         const SummaryOptions& options) {
  const Series differences = paired_differences(policy, reference);
  Difference difference;
  difference.estimate = estimate_of(differences, options.bootstrap);
  difference.relative = relative_difference(policy, reference, options.bootstrap.confidence);
  const Decision absolute = judge.of_mean(differences);
  difference.absolute = absolute.interval;
  // A share of nothing, or of less (a file may say so), has no interval; there is still a verdict.
  const bool of_share = difference.relative && none_negative(policy) && none_negative(reference);
  difference.decision = of_share ? judge.of_ratio(policy, reference) : absolute;
  difference.verdict = difference.decision.verdict();
  if (!of_share) difference.decision.interval = std::nullopt;
  difference.days = day_ratios_of(policy, reference, judge);
  if (difference.estimate.sd) {
    difference.days_until_decided =
        days_until_decided(difference.estimate.mean, *difference.estimate.sd, judge.level());
  }
  if (auto& days = difference.days_until_decided) days = std::max(*days, judge.days_min());
  difference.p_wilcoxon = wilcoxon_signed_rank(differences).p;
  difference.p_anytime = anytime_p(differences, options.rule);
  difference.anytime = anytime_interval(differences, options.rule);
  return difference;
}

// All series of a summary share the resampled days, so they are resampled together at the end.
class BootstrapLater {
 public:
  void add(Series series, Estimate& estimate) {
    series_.push_back(std::move(series));
    estimates_.push_back(&estimate);
  }
  void run(const Bootstrap& options) {
    const auto intervals = bootstrap_intervals(series_, options);
    for (std::size_t i = 0; i < intervals.size(); ++i) estimates_[i]->bootstrap = intervals[i];
  }

 private:
  std::vector<Series> series_;
  std::vector<Estimate*> estimates_;
};

void correct_all(std::span<PolicySummary> compared, Measure measure) {
  Series wilcoxon;
  Series anytime;
  for (const PolicySummary& policy : compared) {
    wilcoxon.push_back((*policy.differences)[measure].p_wilcoxon);
    anytime.push_back((*policy.differences)[measure].p_anytime);
  }
  const Series wilcoxon_holm = holm_adjusted(wilcoxon);
  const Series anytime_holm = holm_adjusted(anytime);
  for (std::size_t i = 0; i < compared.size(); ++i) {
    Difference& difference = (*compared[i].differences)[measure];
    difference.p_holm = wilcoxon_holm[i];
    difference.p_anytime_holm = anytime_holm[i];
  }
}

std::vector<PolicySummary> summarise_policies(const Policies& policies, const Judge& judge,
                                              const SummaryOptions& options) {
  const std::vector<std::string> names = order_of(policies, options.reference);
  std::vector<PolicySummary> summaries(names.size());
  BootstrapLater later;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Days& days = policies.at(names[i]);
    const RunRecord& any = *days.begin()->second;
    PolicySummary& summary = summaries[i];
    summary.policy = any.policy;
    summary.scheduler = any.scheduler;
    summary.repartition = any.repartition;
    if (i > 0) summary.differences.emplace();
    for (const Measure measure : kMeasures) {
      const Series series = series_of(days, measure);
      summary.estimates[measure] = estimate_of(series, options.bootstrap);
      later.add(series, summary.estimates[measure]);
      if (i == 0) continue;
      const Series reference = series_of(policies.at(options.reference), measure);
      Difference& difference = (*summary.differences)[measure];
      difference = difference_of(series, reference, judge, options);
      later.add(paired_differences(series, reference), difference.estimate);
    }
  }
  later.run(options.bootstrap);
  for (const Measure measure : kMeasures) {
    correct_all(std::span(summaries).subspan(1), measure);
  }
  return summaries;
}

// ---- JSON

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return Json::array({interval->low, interval->high});
}

template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const Estimate& estimate) {
  Json json;
  json["mean"] = estimate.mean;
  json["sd"] = json_or_null(estimate.sd);
  json["t_interval"] = json_of(estimate.t);
  json["bootstrap_interval"] = json_of(estimate.bootstrap);
  return json;
}

Json percent(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return Json::array({100 * interval->low, 100 * interval->high});
}

Json json_of(const DayRatios& ratios) {
  return {{"percent", 100 * ratios.mean},
          {"percent_interval", percent(ratios.decision.interval)},
          {"least_percent", 100 * ratios.least},
          {"most_percent", 100 * ratios.most},
          {"p_adjusted", ratios.decision.p_adjusted},
          {"verdict", verdict_name(ratios.decision.verdict())}};
}

Json json_of(const Difference& difference) {
  Json json = json_of(difference.estimate);
  json["percent"] = difference.relative ? Json(100 * difference.relative->share) : Json(nullptr);
  json["percent_interval"] = percent(difference.decision.interval);
  json["percent_interval_alone"] =
      difference.relative ? percent(difference.relative->interval) : Json(nullptr);
  json["interval"] = json_of(difference.absolute);
  json["p"] = difference.decision.p;
  json["p_adjusted"] = difference.decision.p_adjusted;
  json["day_ratios"] = difference.days ? json_of(*difference.days) : Json(nullptr);
  json["p_wilcoxon"] = difference.p_wilcoxon;
  json["p_holm"] = difference.p_holm;
  json["p_anytime"] = difference.p_anytime;
  json["p_anytime_holm"] = difference.p_anytime_holm;
  json["anytime_interval"] = json_of(difference.anytime);
  json["days_until_decided"] = json_or_null(difference.days_until_decided);
  json["verdict"] = verdict_name(difference.verdict);
  return json;
}

template <typename T>
Json json_of(const ByMeasure<T>& values) {
  Json json;
  for (const Measure measure : kMeasures) {
    json[std::string(measure_name(measure))] = json_of(values[measure]);
  }
  return json;
}

}  // namespace

std::string_view measure_name(Measure measure) {
  switch (measure) {
    case Measure::kEt:
      return "et";
    case Measure::kEnergy:
      return "energy_j";
    case Measure::kTardiness:
      return "mean_tardiness_s";
  }
  CHECK(false);
}

double value_of(const RunRecord& record, Measure measure) {
  switch (measure) {
    case Measure::kEt:
      return record.et;
    case Measure::kEnergy:
      return record.energy_j;
    case Measure::kTardiness:
      return record.mean_tardiness_s;
  }
  CHECK(false);
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUndecided:
      return "undecided";
    case Verdict::kLower:
      return "lower";
    case Verdict::kHigher:
      return "higher";
  }
  CHECK(false);
}

Verdict Decision::verdict() const {
  if (!interval || interval->contains(0)) return Verdict::kUndecided;
  return interval->high < 0 ? Verdict::kLower : Verdict::kHigher;
}

std::string too_few_text(const Summary& summary) {
  if (!summary.too_few_days()) return "";
  return fmt::format("{} day{} too few to decide among {} policies: at least {} days are needed.",
                     summary.days, summary.days == 1 ? " is" : "s are", summary.policies.size(),
                     summary.days_min);
}

bool Summary::all_decided(Measure measure) const {
  return std::ranges::all_of(policies, [&](const PolicySummary& policy) {
    return !policy.differences || (*policy.differences)[measure].decided();
  });
}

Result<Summary> summarise(std::span<const RunRecord> records, const SummaryOptions& options) {
  if (records.empty()) return Error{"no runs to summarise"};
  const Result<Policies> policies = by_policy(records);
  if (!policies) return policies.error();
  if (!policies->contains(options.reference)) {
    std::vector<std::string> known;
    for (const auto& [policy, days] : *policies) known.push_back(policy);
    return unknown_name("policy", options.reference, known);
  }
  if (const Status same = same_days(*policies, options.reference); !same) return same.error();
  const std::size_t days = policies->at(options.reference).size();
  const Judge judge(options, days, policies->size() - 1);
  return Summary{records.front().experiment,
                 records.front().setting,
                 options.reference,
                 days,
                 judge.days_min(),
                 1 - options.rule.alpha,
                 summarise_policies(*policies, judge, options)};
}

Json to_json(const Summary& summary) {
  Json json;
  json["experiment"] = summary.experiment;
  json["setting"] = summary.setting;
  json["reference"] = summary.reference;
  json["days"] = summary.days;
  json["days_min"] = summary.days_min;
  json["policies"] = Json::array();
  for (const PolicySummary& policy : summary.policies) {
    Json row;
    row["policy"] = policy.policy;
    row["scheduler"] = policy.scheduler;
    row["repartition"] = policy.repartition;
    row["estimates"] = json_of(policy.estimates);
    row["differences"] = policy.differences ? json_of(*policy.differences) : Json(nullptr);
    json["policies"].push_back(std::move(row));
  }
  return json;
}

}  // namespace partita::experiment
