#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/flags/day_sources.h"
#include "cli/flags/generator_options.h"
#include "cli/flags/name_lists.h"
#include "cli/flags/run_settings.h"
#include "cli/flags/version.h"
#include "cli/output/progress_bar.h"
#include "cli/output/report_page.h"
#include "cli/text/batch_text.h"
#include "cli/text/study_text.h"
#include "cli/verbs/verbs.h"
#include "experiment/results/claims.h"
#include "experiment/results/gaps.h"
#include "experiment/studies/own_study.h"
#include "experiment/studies/studies.h"
#include "experiment/study_run.h"

namespace partita::cli {
namespace {

using experiment::Study;
using experiment::StudyRun;

constexpr std::uint64_t kQuickDays = 5;

// Set by the first Ctrl-C: no run is begun any more, and what is finished stays.
std::atomic<bool> cancelled = false;

experiment::StudyRunOptions options_of(const Values& values, const Study& study, ProgressBar& bar) {
  experiment::StudyRunOptions options;
  options.days = values.has_switch("quick") ? kQuickDays : values.count("days");
  options.until_decided = values.has_switch("until-decided");
  const std::string path = fmt::format("{}/{}", values.text("out-dir"), study.name);
  if (values.has_switch("bounds")) options.bounds_path = path + ".bounds.runs.jsonl";
  options.runner.path = path + ".runs.jsonl";
  options.runner.definition = definition_of(study, kVersion);
  options.runner.threads = static_cast<std::uint32_t>(values.threads());
  options.runner.existing =
      values.has_switch("restart") ? experiment::Existing::kDiscard : experiment::Existing::kResume;
  options.runner.progress = [&bar](const experiment::Progress& progress) {
    bar.at(static_cast<double>(progress.done) / static_cast<double>(progress.total));
  };
  options.runner.cancel = &cancelled;
  return options;
}

Result<StudyRun> run_until_cancelled(const Values& values, const Study& study,
                                     const Console& console) {
  std::error_code ignored;  // the file says what is wrong with the folder
  std::filesystem::create_directories(values.text("out-dir"), ignored);
  ProgressBar bar(console.shows_progress, study.name);
  const auto previous = std::signal(SIGINT, [](int) { cancelled = true; });
  auto run = experiment::run_study(study, options_of(values, study, bar));
  std::signal(SIGINT, previous);
  if (run && cancelled) run->cancelled = true;
  return run;
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

// What looking ahead should expect of the hours of a day.
std::string profile_of(const Values& values) {
  const auto origin = job_origin(values);
  if (*origin == "papers") return "papers";
  return *origin == "realistic" ? values.text("profile") : "flat";
}

// The settings of the flags and the scenario file, with the policies of its [[policies]].
Result<Study> study_of_own(const Values& values, const Console& console) {
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  auto days = day_source(values, console);
  if (!days) return days.error();
  days->window = horizon_of(values, days->window);
  const Value* scenario = values.given("scenario");
  const Value* source = scenario != nullptr ? scenario : values.given("jobs");
  std::vector<experiment::StudyPolicy> policies;
  for (const PolicyEntry& entry : values.policies) {
    const auto& [scheduler, repartition, seed] = settings->policy;
    policies.push_back({entry.name, entry.scheduler.empty() ? scheduler : entry.scheduler,
                        entry.repartition.empty() ? repartition : entry.repartition,
                        entry.preemption, entry.repartition_cost});
  }
  return experiment::own_study({source != nullptr ? source->text : "", *std::move(days),
                                values.text("gpu"), settings->options, settings->policy,
                                profile_of(values), std::move(policies)});
}

// The studies that published traces are further settings of.
using StudyOfTraces = Result<Study> (*)(const std::string& folder);
StudyOfTraces study_of_traces(std::string_view name) {
  if (name == "real-workloads") return experiment::real_workloads_study_with;
  if (name == "reservations") return experiment::reservations_study_with;
  if (name == "sensitivity") return experiment::sensitivity_study_with;
  return nullptr;
}

Result<Study> chosen_study(const Values& values, const Console& console) {
  const Value* name = values.given("STUDY");
  const Value* traces = values.given("traces");
  const StudyOfTraces with_traces = name == nullptr ? nullptr : study_of_traces(name->text);
  if (traces != nullptr && with_traces == nullptr) {
    return Error{"--traces goes with the studies real-workloads, reservations and sensitivity"};
  }
  if (name == nullptr) {
    const bool own = values.given("scenario") != nullptr || values.given("jobs") != nullptr ||
                     values.given("kind") != nullptr;
    if (own) return study_of_own(values, console);
    return Error{fmt::format("experiment needs a study ({}), or --scenario, --jobs or --kind",
                             fmt::join(study_names(), ", "))};
  }
  const Status good = check_only_of_study(values, name->text);
  if (!good) return good.error();
  if (traces != nullptr) return with_traces(traces->text);
  const auto study = experiment::find_study(name->text);
  if (!study) return study.error();
  return **study;
}

nlohmann::ordered_json found_json(const Study& study, const StudyRun& found,
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
  const auto found = run_until_cancelled(values, *study, console);
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
