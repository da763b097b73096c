#include "cli/output/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/flags/value_parsers.h"
#include "cli/flags/version.h"
#include "cli/output/console.h"
#include "cli/output/output_file.h"
#include "cli/text/table.h"
#include "experiment/day_file.h"
#include "experiment/results/make_record.h"
#include "experiment/results/result_file.h"
#include "report/day_check.h"
#include "report/learning_curve.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/page_template.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string runs_title(const RunSettings& settings, std::uint64_t jobs,
                       std::span<const PageRun> runs) {
  const std::string who =
      runs.size() == 1 ? runs.front().name : fmt::format("{} policies", runs.size());
  return fmt::format("{}: {} jobs on {} × {}", who, with_commas(jobs),
                     with_commas(settings.options.gpus), settings.options.model->key);
}

std::string runs_source(const RunSettings& settings) {
  return fmt::format("Preemption {}; power curve {}; ET with a = {:g} per W·min.",
                     format_preemption(settings.options.preemption), settings.options.power->name,
                     settings.options.et_a);
}

// An error of a file beside the results is one of that file.
Error in_file(const std::string& path, const Error& why) {
  return {fmt::format("{}: {}", path, why.message)};
}

Result<report::StudyNotes> notes_beside(const std::string& results) {
  const std::string path = report::study_path(results);
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return report::StudyNotes{};
  const auto text = read_whole_file(path);
  if (!text) return text.error();
  auto notes = report::parse_notes(*text);
  if (!notes) return in_file(path, notes.error());
  return notes;
}

Result<Json> read_days(const std::string& path, std::span<const experiment::RunRecord> runs) {
  const auto text = read_whole_file(path);
  if (!text) return text.error();
  auto days = report::parse_days(*text);
  if (!days) return in_file(path, days.error());
  if (const Status same = report::check_days_are_of(*days, runs); !same) {
    return in_file(path, same.error());
  }
  return days;
}

Result<Json> days_for(const ResultsPageOptions& options,
                      std::span<const experiment::RunRecord> runs) {
  if (options.day) return read_days(*options.day, runs);
  const std::string path = report::day_path(options.results);
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return Json(nullptr);
  auto days = read_days(path, runs);
  if (days) return days;
  warn(days.error().message + "; the page shows no day in detail");
  return Json(nullptr);
}

// What no schedule can beat on the days of the runs, where the notes say that it was found.
Result<std::vector<experiment::RunRecord>> bounds_beside(const ResultsPageOptions& options,
                                                         const report::StudyNotes& notes) {
  if (!notes.bounds) return std::vector<experiment::RunRecord>{};
  return experiment::read_results(report::bounds_path(options.results));
}

void fill_in(report::StudyNotes& notes, const ResultsPageOptions& options,
             std::span<const experiment::RunRecord> runs) {
  const std::string name =
      runs.empty() || runs.front().experiment.empty() ? "Results" : runs.front().experiment;
  if (notes.title.empty()) notes.title = name;
  if (options.title) notes.title = *options.title;
  if (notes.generated_by.empty()) notes.generated_by = fmt::format("partita {} report", kVersion);
  if (!options.reference) return;
  for (report::SettingNote& setting : notes.settings) setting.reference = *options.reference;
  for (const experiment::RunRecord& run : runs) {
    const bool known = std::ranges::any_of(
        notes.settings, [&](const auto& setting) { return setting.name == run.setting; });
    if (!known) notes.settings.push_back({run.setting, *options.reference});
  }
}

Status check_reference(const ResultsPageOptions& options,
                       std::span<const experiment::RunRecord> runs) {
  if (!options.reference) return {};
  std::vector<std::string> known;
  for (const experiment::RunRecord& run : runs) {
    if (run.policy == *options.reference) return {};
    if (std::ranges::find(known, run.policy) == known.end()) known.push_back(run.policy);
  }
  return unknown_name("policy", *options.reference, known);
}

Result<Json> training_figures(const std::string& path) {
  const auto text = read_whole_file(path);
  if (!text) return text.error();
  auto figures = report::learning_figures(*text);
  if (!figures) return in_file(path, figures.error());
  return figures;
}

}  // namespace

std::string command_text(Verb verb, const Values& values) {
  constexpr std::array<std::string_view, 4> kNotShown{"json", "out-dir", "restart", "threads"};
  std::string text = fmt::format("partita {} {}", kVersion, record_of(verb).name);
  for (const auto& [name, value] : values.all()) {
    const FlagRecord* flag = find_flag(name);
    CHECK(flag != nullptr);
    const bool not_shown = std::ranges::find(kNotShown, name) != kNotShown.end();
    if (flag->kind == ValueKind::kOutput || not_shown || !value.typed) continue;
    if (!flag->positional()) text += " " + shown_name(*flag);
    if (flag->is_switch()) continue;
    // Where a file lay is nobody's business who gets the page, and not what the result depends on.
    const bool file = flag->kind == ValueKind::kInput;
    const std::string shown =
        file ? std::filesystem::path(value.text).filename().string() : value.text;
    const bool quoted = shown.find_first_of(" ;'\"") != std::string::npos;
    text += quoted ? fmt::format(" '{}'", shown) : " " + shown;
  }
  return text;
}

Status check_report(const Values& values) {
  if (values.given("report") == nullptr) return {};
  if (const Status there = report::check_template(report::page_template()); !there) return there;
  // A name that cannot be written is known before the runs; this one leaves nothing behind.
  const auto writable = OutputFile::open(values.text("report"));
  if (!writable) return writable.error();
  return {};
}

Result<std::string> page_of_runs(Verb verb, const Values& values, const RunSettings& settings,
                                 const workload::Trace& trace, std::span<const PageRun> runs,
                                 const std::string& reference, const PageRun& detailed,
                                 const std::optional<RunBounds>& bounds) {
  std::vector<experiment::RunRecord> records;
  for (const PageRun& run : runs) {
    // A day that a command is given is the day it is judged on, whatever its seed.
    records.push_back(experiment::make_record(
        {std::string(record_of(verb).name), "", run.name, run.policy.scheduler,
         run.policy.repartition, run.policy.seed, experiment::Role::kTest},
        settings.options, *run.result));
  }
  report::PageInput input{.runs = records, .notes = {}};
  input.notes.title = runs_title(settings, trace.jobs.size(), runs);
  input.notes.source = runs_source(settings);
  input.notes.generated_by = command_text(verb, values);
  input.notes.settings = {{"", reference}};
  input.days = Json::array({experiment::day_json({"",
                                                  detailed.name,
                                                  detailed.policy.scheduler,
                                                  detailed.policy.repartition,
                                                  detailed.policy.seed,
                                                  {}},
                                                 trace, settings.options, *detailed.result)});
  std::vector<experiment::RunRecord> bound;
  if (bounds) {
    bound.push_back(records.front());
    bound.back().energy_j = bounds->energy_j;
    bound.back().mean_tardiness_s = bounds->mean_tardiness_s;
    bound.back().et = bounds->et;
  }
  input.bounds = bound;
  const auto data = report::page_data(input);
  if (!data) return data.error();
  return report::fill_page(report::page_template(), *data);
}

Result<ResultsPage> page_of_training(const std::string& log_text, const std::string& title,
                                     const std::string& made_by) {
  if (const Status there = report::check_template(report::page_template()); !there) {
    return there.error();
  }
  auto figures = report::learning_figures(log_text);
  if (!figures) return figures.error();
  Json data{{"title", title},          {"source", ""},
            {"generated_by", made_by}, {"settings", Json::array()},
            {"day", Json::array()},    {"figures", *std::move(figures)}};
  std::string text = report::fill_page(report::page_template(), data);
  return ResultsPage{std::move(text), 0, std::move(data)};
}

Result<ResultsPage> page_of_results(const ResultsPageOptions& options) {
  if (const Status there = report::check_template(report::page_template()); !there) {
    return there.error();
  }
  const auto runs = experiment::read_results(options.results);
  if (!runs) return runs.error();
  if (const Status known = check_reference(options, *runs); !known) return known.error();
  auto notes = notes_beside(options.results);
  if (!notes) return notes.error();
  fill_in(*notes, options, *runs);
  if (options.training) {
    const auto figures = training_figures(*options.training);
    if (!figures) return figures.error();
    for (const Json& figure : *figures) notes->figures.push_back(figure);
  }
  auto days = days_for(options, *runs);
  if (!days) return days.error();
  const auto bounds = bounds_beside(options, *notes);
  if (!bounds) return bounds.error();
  auto data = report::page_data({*runs, *std::move(notes), *std::move(days), *bounds});
  if (!data) return in_file(options.results, data.error());
  std::string text = report::fill_page(report::page_template(), *data);
  return ResultsPage{std::move(text), runs->size(), *std::move(data)};
}

}  // namespace partita::cli
