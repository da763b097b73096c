#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/flags/name_lists.h"
#include "cli/flags/version.h"
#include "cli/output/progress_bar.h"
#include "cli/output/report_page.h"
#include "cli/text/batch_text.h"
#include "cli/text/study_text.h"
#include "cli/verbs/own_study.h"
#include "cli/verbs/verbs.h"
#include "experiment/results/claims.h"
#include "experiment/results/gaps.h"
#include "experiment/results/summary.h"
#include "experiment/studies/studies.h"
#include "experiment/study.h"

namespace partita::cli {
namespace {

using experiment::Ending;
using experiment::Plan;
using experiment::Study;
using Summaries = std::vector<experiment::Summary>;

constexpr std::uint64_t kQuickDays = 5;
constexpr std::uint64_t kDecidedDaysMax = 2'000;  // as the flag says

// Set by the first Ctrl-C: no run is begun any more, and what is finished stays.
std::atomic<bool> cancelled = false;

experiment::RunnerOptions runner_options(const Values& values, const Study& study,
                                         ProgressBar& bar) {
  experiment::RunnerOptions options;
  options.path = fmt::format("{}/{}.runs.jsonl", values.text("out-dir"), study.name);
  options.definition = definition_of(study, kVersion);
  options.threads = static_cast<std::uint32_t>(values.threads());
  options.existing =
      values.has_switch("restart") ? experiment::Existing::kDiscard : experiment::Existing::kResume;
  options.progress = [&bar](const experiment::Progress& progress) {
    bar.at(static_cast<double>(progress.done) / static_cast<double>(progress.total));
  };
  options.cancel = &cancelled;
  return options;
}

Result<Summaries> summarise_study(const Study& study, std::span<const experiment::RunRecord> runs,
                                  Plan plan) {
  Summaries summaries;
  for (const experiment::StudySetting& setting : study.settings) {
    std::vector<experiment::RunRecord> records;
    for (const experiment::RunRecord& run : runs) {
      if (run.setting == setting.name) records.push_back(run);
    }
    experiment::SummaryOptions options;
    options.reference = setting.policies.front().name;
    options.plan = plan;
    auto summary = experiment::summarise(records, options);
    if (!summary) return summary.error();
    summaries.push_back(*std::move(summary));
  }
  return summaries;
}

struct Found {
  std::uint64_t days = 0;
  std::vector<experiment::RunRecord> records;
  Summaries summaries;
  bool cancelled = false;
  std::vector<experiment::RunRecord> bounds = {};  // with --bounds
};

// All runs of so many days, and what they say.
Result<Found> find(const Study& study, std::uint64_t days, experiment::RunnerOptions options,
                   Plan plan, Ending ending) {
  const auto tasks = tasks_of(study, days);
  if (!tasks) return tasks.error();
  options.ending = ending;
  auto outcome = run_tasks(*tasks, options);
  if (!outcome) return outcome.error();
  if (outcome->cancelled) return Found{days, {}, {}, true};
  auto summaries = summarise_study(study, outcome->records, plan);
  if (!summaries) return summaries.error();
  return Found{days, std::move(outcome->records), *std::move(summaries), false};
}

// The bounds of the same days, kept beside the runs as those are.
Result<std::vector<experiment::RunRecord>> find_bounds(const Values& values, const Study& study,
                                                       std::uint64_t days, ProgressBar& bar) {
  if (!values.has_switch("bounds")) return std::vector<experiment::RunRecord>{};
  const auto tasks = bound_tasks_of(study, days);
  if (!tasks) return tasks.error();
  experiment::RunnerOptions options = runner_options(values, study, bar);
  options.path = fmt::format("{}/{}.bounds.runs.jsonl", values.text("out-dir"), study.name);
  const auto outcome = run_tasks(*tasks, options);
  if (!outcome) return outcome.error();
  return outcome->records;
}

bool all_decided(const Summaries& summaries) {
  return std::ranges::all_of(summaries, [](const experiment::Summary& summary) {
    return summary.all_decided(experiment::Measure::kEt);
  });
}

std::uint64_t most_days(const Study& study) {
  std::uint64_t most = 0;
  for (const experiment::StudySetting& setting : study.settings) {
    most = std::max(most, setting.days.test_days_max);
  }
  return most;
}

// Round after round, a quarter more days each, until all is decided. A round finds the runs of the
// one before in the file, so that resuming takes the same steps.
Result<Found> find_until_decided(const Study& study, std::uint64_t days,
                                 experiment::RunnerOptions options) {
  const std::uint64_t last = std::min(kDecidedDaysMax, most_days(study));
  days = std::min(std::max(days, experiment::SequentialRule{}.days_min), last);
  while (true) {
    auto round = find(study, days, options, Plan::kUntilDecided, Ending::kRound);
    if (!round || round->cancelled) return round;
    options.existing = experiment::Existing::kResume;
    if (all_decided(round->summaries) || days == last) break;
    days = std::min(last, days + std::max<std::uint64_t>(10, days / 4));
  }
  return find(study, days, options, Plan::kUntilDecided, Ending::kFinal);
}

Result<Found> run_study(const Values& values, const Study& study, const Console& console) {
  std::error_code ignored;  // the file says what is wrong with the folder
  std::filesystem::create_directories(values.text("out-dir"), ignored);
  const std::uint64_t days = values.has_switch("quick") ? kQuickDays : values.count("days");
  ProgressBar bar(console.shows_progress, study.name);
  const auto options = runner_options(values, study, bar);
  const auto previous = std::signal(SIGINT, [](int) { cancelled = true; });
  auto found = values.has_switch("until-decided")
                   ? find_until_decided(study, days, options)
                   : find(study, days, options, Plan::kFixedDays, Ending::kFinal);
  if (found && !found->cancelled) {
    auto bounds = find_bounds(values, study, found->days, bar);
    if (!bounds) found = bounds.error();
    if (bounds) found->bounds = *std::move(bounds);
    if (found) found->cancelled = cancelled;
  }
  std::signal(SIGINT, previous);
  return found;
}

// A study sets everything itself.
Status check_only_of_study(const Values& values, std::string_view study) {
  for (const auto& [name, value] : values.all()) {
    const FlagRecord* flag = find_flag(name);
    if (!value.typed || (flag->section.empty() && name != "scenario")) continue;
    return Error{
        fmt::format("{} does not go with the study {}, which sets everything itself; "
                    "leave the study away for an experiment of your own",
                    value.place, study)};
  }
  return {};
}

Result<Study> chosen_study(const Values& values, const Console& console) {
  const Value* name = values.given("STUDY");
  const Value* traces = values.given("traces");
  const bool real = name != nullptr && name->text == "real-workloads";
  if (traces != nullptr && !real && (name == nullptr || name->text != "sensitivity")) {
    return Error{"--traces goes with the studies real-workloads and sensitivity"};
  }
  if (name == nullptr) {
    const bool own = values.given("scenario") != nullptr || values.given("jobs") != nullptr ||
                     values.given("kind") != nullptr;
    if (own) return own_study(values, console);
    return Error{fmt::format("experiment needs a study ({}), or --scenario, --jobs or --kind",
                             fmt::join(study_names(), ", "))};
  }
  const Status good = check_only_of_study(values, name->text);
  if (!good) return good.error();
  if (traces != nullptr) {
    return real ? experiment::real_workloads_study_with(traces->text)
                : experiment::sensitivity_study_with(traces->text);
  }
  const auto study = experiment::find_study(name->text);
  if (!study) return study.error();
  return **study;
}

nlohmann::ordered_json found_json(const Study& study, const Found& found,
                                  const std::vector<experiment::JudgedClaim>& claims) {
  nlohmann::ordered_json json{{"experiment", study.name}, {"days", found.days}};
  for (const experiment::Summary& summary : found.summaries) {
    json["settings"].push_back(to_json(summary));
    add_gaps(json["settings"].back(), summary.setting, found.records, found.bounds);
  }
  if (study.batches) json["batches"] = batches_json(study, found.records);
  json["published"] = claims_json(claims);
  return json;
}

}  // namespace

Outcome run_experiment(const Values& values, Console& console) {
  const auto study = chosen_study(values, console);
  if (!study) return study.error();
  if (const Status ready = check_report(values); !ready) return ready.error();
  const auto found = run_study(values, *study, console);
  if (!found) return found.error();
  if (found->cancelled) {
    complain("stopped; the finished runs are kept, and the same command goes on from there");
    return 1;
  }
  if (const Status sound = check_bounds(found->records, found->bounds); !sound) {
    return sound.error();
  }
  const auto claims = judge_claims(*study, found->records, found->bounds);
  const Status reported =
      write_study_report(values, *study, found->days, found->records, claims_json(claims));
  if (!reported) return reported.error();
  if (values.has_switch("json")) {
    print_json(console, found_json(*study, *found, claims));
    return 0;
  }
  console.out.write(study->batches ? batches_text(*study, found->records, console.bold)
                                   : summaries_text(*study, found->summaries, console.bold));
  console.out.write(gaps_text(*study, found->records, found->bounds, console.bold));
  if (!claims.empty()) console.out.write(claims_text(*study, claims, console.bold));
  if (study->source.empty()) console.out.write(saving_text(found->summaries.front()));
  return 0;
}

}  // namespace partita::cli
