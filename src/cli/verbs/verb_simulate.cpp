#include <nlohmann/json.hpp>

#include "cli/flags/workloads.h"
#include "cli/output/progress_bar.h"
#include "cli/output/report_page.h"
#include "cli/output/run_files.h"
#include "cli/text/bound_report.h"
#include "cli/text/run_report.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {

namespace {

Result<std::string> page_of(const Values& values, const RunSettings& settings,
                            const workload::Trace& trace, const sim::RunResult& result,
                            const std::optional<RunBounds>& bounds) {
  const PageRun run{settings.policy.scheduler, settings.policy, &result};
  return page_of_runs(Verb::kSimulate, values, settings, trace, {&run, 1}, run.name, run, bounds);
}

}  // namespace

Outcome run_simulate(const Values& values, Console& console) {
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  if (const Status ready = check_report(values); !ready) return ready.error();
  auto files = RunFiles::open(values);
  if (!files) return files.error();
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  settings->options.horizon = horizon_of(values, jobs->window_end);
  settings->options.keep_schedule = files->wants_schedule();
  settings->options.keep_jobs = files->wants_jobs();
  const auto run = [&] {
    ProgressBar bar(console.shows_progress, "simulating");
    return experiment::run_policy(jobs->trace, settings->options, settings->policy,
                                  {[&](double part) { bar.at(part); }, clock_seconds});
  }();
  if (!run) {
    complain(run.error().message);
    return 1;
  }
  for (const std::string& note : run->notes) warn(note);
  const auto bounds = bounds_if_asked(values, jobs->trace, settings->options);
  if (!bounds) return bounds.error();
  if (*bounds) {
    const Status sound = check_bounds(**bounds, run->result, settings->policy.scheduler);
    if (!sound) return sound.error();
  }
  const auto page = files->wants_report()
                        ? page_of(values, *settings, jobs->trace, run->result, *bounds)
                        : Result<std::string>(std::string());
  if (!page) return page.error();
  const Status written = files->write(jobs->trace, settings->options, run->result, *page);
  if (!written) return written.error();
  nlohmann::ordered_json json = run_json(*settings, *run);
  if (*bounds) add_gaps(json, **bounds, run->result);
  return print_either(
      values, console, json,
      run_text(*settings, *run, console.bold) + (*bounds ? gaps_text(**bounds, run->result) : ""));
}

}  // namespace partita::cli
