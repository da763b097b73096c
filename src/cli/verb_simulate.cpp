#include <nlohmann/json.hpp>

#include "cli/progress_bar.h"
#include "cli/run_files.h"
#include "cli/run_report.h"
#include "cli/verbs.h"

namespace partita::cli {

Outcome run_simulate(const Values& values, Console& console) {
  auto settings = run_settings(values);
  if (!settings) return settings.error();
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
  const Status written = files->write(jobs->trace, settings->options, finished->result);
  if (!written) return written.error();
  if (values.has_switch("json")) {
    print_json(console, run_json(*settings, scheduler, *finished));
  } else {
    console.out.write(run_text(*settings, scheduler, *finished, console.bold));
  }
  return 0;
}

}  // namespace partita::cli
