#include "experiment/study_run.h"

#include <algorithm>

#include "experiment/statistics/sequential.h"

namespace partita::experiment {
namespace {

Result<std::vector<Summary>> summarise_study(const Study& study, std::span<const RunRecord> runs,
                                             Plan plan) {
  std::vector<Summary> summaries;
  for (const StudySetting& setting : study.settings) {
    std::vector<RunRecord> records;
    for (const RunRecord& run : runs) {
      if (run.setting == setting.name) records.push_back(run);
    }
    SummaryOptions options;
    options.reference = setting.policies.front().name;
    options.plan = plan;
    auto summary = summarise(records, options);
    if (!summary) return summary.error();
    summaries.push_back(*std::move(summary));
  }
  return summaries;
}

// All runs of so many days, and what they say.
Result<StudyRun> run_days(const Study& study, std::uint64_t days, RunnerOptions options, Plan plan,
                          Ending ending) {
  const auto tasks = tasks_of(study, days);
  if (!tasks) return tasks.error();
  options.ending = ending;
  auto outcome = run_tasks(*tasks, options);
  if (!outcome) return outcome.error();
  if (outcome->cancelled) return StudyRun{.days = days, .cancelled = true};
  auto summaries = summarise_study(study, outcome->records, plan);
  if (!summaries) return summaries.error();
  return StudyRun{days, std::move(outcome->records), *std::move(summaries)};
}

bool all_decided(const std::vector<Summary>& summaries) {
  return std::ranges::all_of(
      summaries, [](const Summary& summary) { return summary.all_decided(Measure::kEt); });
}

std::uint64_t most_days(const Study& study) {
  std::uint64_t most = 0;
  for (const StudySetting& setting : study.settings) {
    most = std::max(most, setting.days.test_days_max);
  }
  return most;
}

// Round after round, a quarter more days each, until all is decided. A round finds the runs of the
// one before in the file, so that resuming takes the same steps.
Result<StudyRun> run_until_decided(const Study& study, std::uint64_t days, RunnerOptions options) {
  const std::uint64_t last = std::min(kDecidedDaysMax, most_days(study));
  days = std::min(std::max(days, SequentialRule{}.days_min), last);
  while (true) {
    auto round = run_days(study, days, options, Plan::kUntilDecided, Ending::kRound);
    if (!round || round->cancelled) return round;
    options.existing = Existing::kResume;
    if (all_decided(round->summaries) || days == last) break;
    days = std::min(last, days + std::max<std::uint64_t>(10, days / 4));
  }
  return run_days(study, days, options, Plan::kUntilDecided, Ending::kFinal);
}

}  // namespace

Result<StudyRun> run_study(const Study& study, const StudyRunOptions& options) {
  auto run = options.until_decided
                 ? run_until_decided(study, options.days, options.runner)
                 : run_days(study, options.days, options.runner, Plan::kFixedDays, Ending::kFinal);
  if (!run || run->cancelled || !options.bounds_path) return run;
  const auto tasks = bound_tasks_of(study, run->days);
  if (!tasks) return tasks.error();
  RunnerOptions of_bounds = options.runner;
  of_bounds.path = *options.bounds_path;
  auto bounds = run_tasks(*tasks, of_bounds);
  if (!bounds) return bounds.error();
  run->bounds = std::move(bounds->records);
  run->cancelled = bounds->cancelled;
  return run;
}

}  // namespace partita::experiment
