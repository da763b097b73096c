#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/progress_bar.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "experiment/claims.h"
#include "experiment/study.h"
#include "experiment/summary.h"

namespace partita::cli {
namespace {

using experiment::Claim;
using experiment::Measure;

constexpr std::uint64_t kQuickDays = 5;

// Set by the first Ctrl-C: no run is begun any more, and what is finished stays.
std::atomic<bool> cancelled = false;

std::string pm(const experiment::Estimate& estimate, double scale, int digits) {
  const double half = estimate.t ? (estimate.t->high - estimate.t->low) / 2 : 0;
  return fmt::format("{:.{}f} ± {:.{}f}", estimate.mean * scale, digits, half * scale, digits);
}

std::string percent_of(const experiment::Difference& difference) {
  if (!difference.relative) return "-";
  const auto& interval = difference.relative->interval;
  if (!interval) return fmt::format("{:+.1f} %", 100 * difference.relative->share);
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", 100 * difference.relative->share,
                     100 * interval->low, 100 * interval->high);
}

std::string setting_text(const experiment::Summary& summary, bool bold) {
  Table table({{"policy", Align::kLeft},
               {"ET", Align::kRight},
               {"kWh a day", Align::kRight},
               {"tardy min", Align::kRight},
               {"ET against " + summary.reference, Align::kRight},
               {"verdict", Align::kLeft}});
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
               reference ? "reference" : std::string(verdict_name(et->verdict))});
  }
  return fmt::format("{} {}, {} days, 95 % intervals\n\n{}\n", summary.experiment, summary.setting,
                     summary.days, table.text(bold));
}

std::string_view unit_of(Claim::Kind kind) {
  switch (kind) {
    case Claim::Kind::kTardinessMin:
      return "min";
    case Claim::Kind::kEnergyMWMin:
      return "M W·min";
    case Claim::Kind::kLatePercent:
    case Claim::Kind::kEtGainPercent:
      return "%";
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
  }
  return "";
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

experiment::RunnerOptions runner_options(const Values& values, const experiment::Study& study,
                                         ProgressBar& bar) {
  experiment::RunnerOptions options;
  options.path = fmt::format("{}/{}.runs.jsonl", values.text("out-dir"), study.name);
  options.definition = definition_of(study, kVersion);
  if (values.given("threads") != nullptr) {
    options.threads = static_cast<std::uint32_t>(values.count("threads"));
  }
  options.existing =
      values.has_switch("restart") ? experiment::Existing::kDiscard : experiment::Existing::kResume;
  options.progress = [&bar](const experiment::Progress& progress) {
    bar.at(static_cast<double>(progress.done) / static_cast<double>(progress.total));
  };
  options.cancel = &cancelled;
  return options;
}

Result<experiment::Outcome> run_study(const Values& values, const experiment::Study& study,
                                      std::uint64_t days, const Console& console) {
  const auto tasks = tasks_of(study, days);
  if (!tasks) return tasks.error();
  ProgressBar bar(console.shows_progress, study.name);
  const auto previous = std::signal(SIGINT, [](int) { cancelled = true; });
  Result<experiment::Outcome> outcome = run_tasks(*tasks, runner_options(values, study, bar));
  std::signal(SIGINT, previous);
  return outcome;
}

Result<std::vector<experiment::Summary>> summarise_study(
    const experiment::Study& study, std::span<const experiment::RunRecord> runs) {
  std::vector<experiment::Summary> summaries;
  for (const experiment::StudySetting& setting : study.settings) {
    std::vector<experiment::RunRecord> records;
    for (const experiment::RunRecord& run : runs) {
      if (run.setting == setting.name) records.push_back(run);
    }
    experiment::SummaryOptions options;
    options.reference = setting.policies.front().name;
    auto summary = experiment::summarise(records, options);
    if (!summary) return summary.error();
    summaries.push_back(*std::move(summary));
  }
  return summaries;
}

}  // namespace

Outcome run_experiment(const Values& values, Console& console) {
  const Value* name = values.given("STUDY");
  const auto study = experiment::find_study(name == nullptr ? "" : name->text);
  if (!study) return study.error();
  const std::uint64_t days = values.has_switch("quick") ? kQuickDays : values.count("days");
  const auto outcome = run_study(values, **study, days, console);
  if (!outcome) return outcome.error();
  if (outcome->cancelled) {
    complain("stopped; the finished runs are kept, and the same command goes on from there");
    return 1;
  }
  const auto summaries = summarise_study(**study, outcome->records);
  if (!summaries) return summaries.error();
  const auto claims = judge_claims(**study, outcome->records);
  if (values.has_switch("json")) {
    nlohmann::ordered_json json{{"experiment", (*study)->name}, {"days", days}};
    for (const experiment::Summary& summary : *summaries) {
      json["settings"].push_back(to_json(summary));
    }
    json["published"] = claims_json(claims);
    print_json(console, json);
    return 0;
  }
  for (const experiment::Summary& summary : *summaries) {
    console.out.write(setting_text(summary, console.bold) + "\n");
  }
  if (!claims.empty()) console.out.write(claims_text(**study, claims, console.bold));
  return 0;
}

}  // namespace partita::cli
