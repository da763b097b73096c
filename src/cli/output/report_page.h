// The report page of a command: what --report and `partita report` write.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/flags/run_settings.h"
#include "cli/flags/values.h"
#include "cli/text/bound_report.h"
#include "experiment/study.h"

namespace partita::cli {

// Whether this program has a page to fill, asked before anything runs.
Status check_report(const Values& values);

// The command line again, with what its result depends on: flags in order of their names, without
// those that say what is written, where, and by how many threads.
std::string command_text(Verb verb, const Values& values);

// One run on the jobs of a command.
struct PageRun {
  std::string name;
  experiment::Policy policy;
  const sim::RunResult* result = nullptr;
};

// The page of runs on the same jobs. `detailed` is the run that is shown in detail, made with
// keep_jobs and keep_schedule. With bounds every run has its gap to them.
Result<std::string> page_of_runs(Verb verb, const Values& values, const RunSettings& settings,
                                 const workload::Trace& trace, std::span<const PageRun> runs,
                                 const std::string& reference, const PageRun& detailed,
                                 const std::optional<RunBounds>& bounds);

// The page of a result file, with what stands beside it: NAME.study.json, and NAME.day.json unless
// `day` names another. A day beside the file that is not one of its runs is left out with a
// warning; one that was asked for is an error.
struct ResultsPage {
  std::string text;
  std::size_t runs = 0;
  nlohmann::ordered_json data;
};
struct ResultsPageOptions {
  std::string results;
  std::optional<std::string> day = {};
  std::optional<std::string> title = {};
  std::optional<std::string> reference = {};
  std::optional<std::string> training = {};  // a log of `train`, whose curve is shown as well
};
Result<ResultsPage> page_of_results(const ResultsPageOptions& options);

// The page of a training: its learning curve. `title` heads it, `made_by` is the command.
Result<ResultsPage> page_of_training(const std::string& log_text, const std::string& title,
                                     const std::string& made_by);

// After a study: NAME.study.json beside its runs and, with --report, NAME.day.json and the page.
// `published` is the list of the source's figures beside ours, as --json prints it.
Status write_study_report(const Values& values, const experiment::Study& study, std::uint64_t days,
                          std::span<const experiment::RunRecord> runs,
                          const nlohmann::ordered_json& published);

}  // namespace partita::cli
