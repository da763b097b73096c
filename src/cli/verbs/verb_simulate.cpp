#include <nlohmann/json.hpp>

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
  const std::string scheduler = values.text("scheduler");
  const PageRun run{scheduler, scheduler, settings.repartition, &result};
  return page_of_runs(Verb::kSimulate, values, settings, trace, {&run, 1}, scheduler, run, bounds);
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
  set_horizon(*settings, values, *jobs);
  settings->options.keep_schedule = files->wants_schedule();
  settings->options.keep_jobs = files->wants_jobs();
  const std::string scheduler = values.text("scheduler");
  const auto finished = [&] {
    ProgressBar bar(console.shows_progress, "simulating");
    return run_one(jobs->trace, *settings, scheduler, [&](double part) { bar.at(part); });
  }();
  if (!finished) {
    complain(finished.error().message);
    return 1;
  }
  for (const std::string& note : finished->notes) warn(note);
  const auto bounds = bounds_if_asked(values, jobs->trace, settings->options);
  if (!bounds) return bounds.error();
  if (*bounds) {
    const Status sound = check_bounds(**bounds, finished->result, scheduler);
    if (!sound) return sound.error();
  }
  const auto page = files->wants_report()
                        ? page_of(values, *settings, jobs->trace, finished->result, *bounds)
                        : Result<std::string>(std::string());
  if (!page) return page.error();
  const Status written = files->write(jobs->trace, settings->options, finished->result, *page);
  if (!written) return written.error();
  if (values.has_switch("json")) {
    nlohmann::ordered_json json = run_json(*settings, scheduler, *finished);
    if (*bounds) add_gaps(json, **bounds, finished->result);
    print_json(console, json);
  } else {
    console.out.write(run_text(*settings, scheduler, *finished, console.bold));
    if (*bounds) console.out.write(gaps_text(**bounds, finished->result));
  }
  return 0;
}

}  // namespace partita::cli
