#include "cli/text/study_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "cli/text/judged_text.h"
#include "cli/text/table.h"
#include "experiment/results/gaps.h"
#include "policies/layout_list.h"

namespace partita::cli {
namespace {

using experiment::Claim;
using experiment::Measure;

std::string pm(const experiment::Estimate& estimate, double scale, int digits) {
  const double half = estimate.t ? (estimate.t->high - estimate.t->low) / 2 : 0;
  return fmt::format("{:.{}f} ± {:.{}f}", estimate.mean * scale, digits, half * scale, digits);
}

// Of the means, with the interval of the test that decides. Too few days have none, but a range.
std::string percent_of(const experiment::Difference& difference) {
  if (!difference.relative) return "-";
  const double share = difference.relative->share;
  const auto& days = difference.days;
  if (difference.decision.interval || !days || days->least == days->most) {
    return percent_text({share, difference.decision.interval});
  }
  return fmt::format("{:+.1f} % (days {:+.1f} to {:+.1f})", 100 * share, 100 * days->least,
                     100 * days->most);
}

std::string day_by_day(const experiment::Difference& difference) {
  if (!difference.days) return "-";
  return percent_text({difference.days->mean, difference.days->decision.interval});
}

// Undecided: and how many days such a difference would take, where that is more than there are.
std::string verdict_text(const experiment::Difference& difference, std::uint64_t days_now) {
  const auto& days = difference.days_until_decided;
  if (difference.decided() || !days || *days <= days_now) {
    return std::string(verdict_name(difference.verdict));
  }
  constexpr std::uint64_t kTooMany = 100'000;
  if (*days > kTooMany) return "undecided, and no matter";
  return fmt::format("undecided, about {} days", *days);
}

// What the intervals mean, and whether there are days enough for any.
std::string meaning_text(const experiment::Summary& summary) {
  if (summary.compared() == 0) return "";
  const std::string few = too_few_text(summary);
  if (!few.empty()) return "\n" + few + "\n";
  const double count = static_cast<double>(summary.compared());
  const std::string together =
      summary.compared() == 1
          ? ""
          : fmt::format("; the intervals of either hold for all {} policies at once, {:.3g} % each",
                        summary.compared(), 100 * (1 - (1 - summary.confidence) / count));
  return fmt::format(
      "\n\"ET against {}\" is a ratio of means, \"day by day\" the geometric mean of the days' own "
      "ratios{}.\nThe verdict is the side of 0 on which the interval of the first lies.\n",
      summary.reference, together);
}

std::string setting_text(const experiment::Summary& summary, bool bold) {
  Table table({{"policy", Align::kLeft},
               {"ET", Align::kRight},
               {"kWh", Align::kRight},
               {"tardy min", Align::kRight},
               {"ET against " + summary.reference, Align::kRight},
               {"verdict", Align::kLeft},
               {"day by day", Align::kRight}});
  std::vector<const experiment::PolicySummary*> ranked;
  for (const experiment::PolicySummary& policy : summary.policies) ranked.push_back(&policy);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) {
    return a->estimates[Measure::kEt].mean < b->estimates[Measure::kEt].mean;
  });
  for (const experiment::PolicySummary* policy : ranked) {
    const bool reference = !policy->differences.has_value();
    const auto* et = reference ? nullptr : &(*policy->differences)[Measure::kEt];
    table.add({policy->policy, pm(policy->estimates[Measure::kEt], 1, 4),
               pm(policy->estimates[Measure::kEnergy], 1 / 3.6e6, 2),
               pm(policy->estimates[Measure::kTardiness], 1.0 / 60, 3),
               reference ? "" : percent_of(*et),
               reference ? "reference" : verdict_text(*et, summary.days),
               reference ? "" : day_by_day(*et)});
  }
  const std::string blank = summary.setting.empty() ? "" : " ";
  return fmt::format("{}{}{}, {} days, 95 % intervals\n\n{}{}\n", summary.experiment, blank,
                     summary.setting, summary.days, table.text(bold), meaning_text(summary));
}

std::string_view unit_of(Claim::Kind kind) {
  switch (kind) {
    case Claim::Kind::kTardinessMin:
      return "min";
    case Claim::Kind::kEnergyMWMin:
      return "M W·min";
    case Claim::Kind::kLatePercent:
    case Claim::Kind::kEtGainPercent:
    case Claim::Kind::kLateGainPercent:
    case Claim::Kind::kLayoutPercent:
    case Claim::Kind::kEnergyOverBoundPercent:
    case Claim::Kind::kTardinessOverBoundPercent:
      return "%";
    case Claim::Kind::kThroughputRatio:
    case Claim::Kind::kEnergyRatio:
      return "x";
  }
  return "";
}

std::string ours_text(const experiment::JudgedClaim& judged) {
  if (!judged.interval) return fmt::format("{:.4g}", judged.ours);
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", judged.ours, judged.interval->low,
                     judged.interval->high);
}

std::string_view claim_verdict(const experiment::JudgedClaim& judged) {
  switch (judged.verdict) {
    case experiment::ClaimVerdict::kReproduced:
      return "reproduced";
    case experiment::ClaimVerdict::kNotReproduced:
      return "not reproduced";
    case experiment::ClaimVerdict::kTooFewDays:
      return "too few days";
    case experiment::ClaimVerdict::kNotComparable:
      return "not comparable";
  }
  return "";
}

using DifferenceText = std::string (*)(const experiment::Difference&);

// A row a setting, a column a policy.
std::string survival_table(const std::vector<experiment::Summary>& summaries, DifferenceText text,
                           bool bold) {
  std::vector<std::string> policies;
  std::vector<Table::Column> columns{
      {"setting", Align::kLeft}, {"days", Align::kRight}, {"ET of the reference", Align::kRight}};
  for (const experiment::Summary& summary : summaries) {
    for (const experiment::PolicySummary& policy : summary.policies) {
      if (!policy.differences || std::ranges::count(policies, policy.policy) > 0) continue;
      policies.push_back(policy.policy);
      columns.push_back({policy.policy, Align::kRight});
    }
  }
  Table table(columns);
  for (const experiment::Summary& summary : summaries) {
    std::vector<std::string> row{summary.setting, std::to_string(summary.days), ""};
    row.resize(columns.size());
    for (const experiment::PolicySummary& policy : summary.policies) {
      if (!policy.differences) {
        row[2] = pm(policy.estimates[Measure::kEt], 1, 3);
        continue;
      }
      const auto at = std::ranges::find(policies, policy.policy) - policies.begin();
      row[3 + static_cast<std::size_t>(at)] = text((*policy.differences)[Measure::kEt]);
    }
    table.add(row);
  }
  return table.text(bold);
}

// Many settings: what each policy gains or loses in each, in one table.
std::string survival_text(const std::vector<experiment::Summary>& summaries, bool bold) {
  const std::string means = survival_table(
      summaries,
      [](const experiment::Difference& et) { return percent_of(et) + (et.decided() ? "" : " ?"); },
      bold);
  std::string few;
  for (const experiment::Summary& summary : summaries) {
    if (!summary.too_few_days()) continue;
    few += fmt::format("\n{}: {}", summary.setting, too_few_text(summary));
  }
  if (!few.empty()) few += "\n";
  return fmt::format(
      "{}: ET against the reference {}, ratios of means, intervals that hold for all policies of a "
      "setting at once with 95 %; ? is undecided: the interval contains 0\n\n{}{}\n"
      "day by day: the same as geometric means of the days' own ratios\n\n{}\n",
      summaries.front().experiment, summaries.front().reference, means, few,
      survival_table(summaries, day_by_day, bold));
}

}  // namespace

std::string summaries_text(const experiment::Study& study,
                           const std::vector<experiment::Summary>& summaries, bool bold) {
  using Shown = experiment::StudySetting::Shown;
  std::string text;
  std::vector<experiment::Summary> rows;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const Shown shown = study.settings[i].shown;
    if (shown == Shown::kTable) text += setting_text(summaries[i], bold) + "\n";
    if (shown == Shown::kRow) rows.push_back(summaries[i]);
  }
  if (!rows.empty()) text += survival_text(rows, bold) + "\n";
  return text;
}

std::string claims_text(const experiment::Study& study,
                        const std::vector<experiment::JudgedClaim>& claims, bool bold) {
  Table table({{"setting", Align::kLeft},
               {"figure", Align::kLeft},
               {"published", Align::kRight},
               {"ours, 95 %", Align::kRight},
               {"verdict", Align::kLeft},
               {"remark", Align::kLeft}});
  for (const experiment::JudgedClaim& judged : claims) {
    const Claim& claim = *judged.claim;
    table.add({claim.setting, claim.what,
               fmt::format("{:g} {}", claim.published, unit_of(claim.kind)), ours_text(judged),
               std::string(claim_verdict(judged)), claim.remark});
  }
  return fmt::format("published figures: {}\n\n{}", study.source, table.text(bold));
}

nlohmann::ordered_json claims_json(const std::vector<experiment::JudgedClaim>& claims) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const experiment::JudgedClaim& judged : claims) {
    nlohmann::ordered_json one{{"setting", judged.claim->setting},
                               {"figure", judged.claim->what},
                               {"unit", unit_of(judged.claim->kind)},
                               {"published", judged.claim->published},
                               {"ours", judged.ours}};
    if (judged.interval) one["low"] = judged.interval->low;
    if (judged.interval) one["high"] = judged.interval->high;
    one["verdict"] = claim_verdict(judged);
    one["remark"] = judged.claim->remark;
    json.push_back(std::move(one));
  }
  return json;
}

std::string saving_text(const experiment::Summary& summary) {
  const auto best = std::ranges::min_element(
      summary.policies, {}, [](const auto& policy) { return policy.estimates[Measure::kEt].mean; });
  if (!best->differences) {
    return fmt::format("Nothing here has a lower ET than {}.\n", summary.reference);
  }
  const auto& differences = *best->differences;
  const std::string few = too_few_text(summary);
  const std::string_view decided = differences[Measure::kEt].decided() ? "decided" : "not decided";
  return fmt::format(
      "Lowest ET: {} (--scheduler {} --repartition {}).\nAgainst {} it changes energy by {:+.2f} "
      "kWh a day, mean tardiness by {:+.2f} min, ET by {}; the difference in ET is {}.{}\n",
      best->policy, best->scheduler, policies::with_runs(best->repartition), summary.reference,
      differences[Measure::kEnergy].estimate.mean / 3.6e6,
      differences[Measure::kTardiness].estimate.mean / 60, percent_of(differences[Measure::kEt]),
      decided, few.empty() ? "" : " " + few);
}

namespace {

// What cannot be below the bound is not said to be: the interval of few days does not know.
double low_of(const experiment::Interval& interval) {
  return std::max(0.0, interval.low);
}

std::string gap_text(const std::optional<experiment::Relative>& gap) {
  if (!gap) return "-";
  if (!gap->interval) return fmt::format("{:.1f} %", 100 * gap->share);
  return fmt::format("{:.1f} % ({:.1f} to {:.1f})", 100 * gap->share, 100 * low_of(*gap->interval),
                     100 * gap->interval->high);
}

void add_gap(nlohmann::ordered_json& json, const std::string& name,
             const std::optional<experiment::Relative>& gap) {
  json[name + "_gap_percent"] =
      gap ? nlohmann::ordered_json(100 * gap->share) : nlohmann::ordered_json();
  if (!gap || !gap->interval) return;
  json[name + "_gap_low_percent"] = 100 * low_of(*gap->interval);
  json[name + "_gap_high_percent"] = 100 * gap->interval->high;
}

}  // namespace

std::string gaps_text(const experiment::Study& study, std::span<const experiment::RunRecord> runs,
                      std::span<const experiment::RunRecord> bounds, bool bold) {
  std::string text;
  for (const experiment::StudySetting& setting : study.settings) {
    const auto found = gaps_of(setting.name, runs, bounds);
    if (!found) continue;
    Table table({{setting.name.empty() ? "policy" : setting.name, Align::kLeft},
                 {"ET over bound", Align::kRight},
                 {"energy over bound", Align::kRight},
                 {"tardiness over bound", Align::kRight}});
    for (const experiment::Gap& gap : found->gaps) {
      table.add({gap.policy, gap_text(gap.over[Measure::kEt]), gap_text(gap.over[Measure::kEnergy]),
                 gap_text(gap.over[Measure::kTardiness])});
    }
    text += table.text(bold);
    text += fmt::format(
        "\nmeans of {} days, 95 % intervals; no schedule has less than {} kWh ({} M W·min), "
        "{} min of tardiness, ET {}\n\n",
        found->days, pm(found->bound[Measure::kEnergy], 1 / 3.6e6, 3),
        pm(found->bound[Measure::kEnergy], 1 / 60e6, 4),
        pm(found->bound[Measure::kTardiness], 1.0 / 60, 4), pm(found->bound[Measure::kEt], 1, 4));
  }
  return text;
}

void add_gaps(nlohmann::ordered_json& json, const std::string& setting,
              std::span<const experiment::RunRecord> runs,
              std::span<const experiment::RunRecord> bounds) {
  const auto found = gaps_of(setting, runs, bounds);
  if (!found) return;
  json["energy_bound_j"] = found->bound[Measure::kEnergy].mean;
  json["tardiness_bound_s"] = found->bound[Measure::kTardiness].mean;
  json["et_bound"] = found->bound[Measure::kEt].mean;
  for (const experiment::Gap& gap : found->gaps) {
    nlohmann::ordered_json one{{"policy", gap.policy}};
    add_gap(one, "energy", gap.over[Measure::kEnergy]);
    add_gap(one, "tardiness", gap.over[Measure::kTardiness]);
    add_gap(one, "et", gap.over[Measure::kEt]);
    json["gaps"].push_back(std::move(one));
  }
}

}  // namespace partita::cli
