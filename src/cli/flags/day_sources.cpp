#include "cli/flags/day_sources.h"

#include <fmt/format.h>

#include "cli/flags/generator_options.h"
#include "cli/flags/workloads.h"

namespace partita::cli {
namespace {

experiment::Windows windows_asked_for(const Values& values) {
  experiment::Windows windows;
  windows.length = window_length(values);
  windows.share = values.number("sample");
  return windows;
}

Result<experiment::DaySource> windows_of_file(const Values& values, const Console& console) {
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  return experiment::trace_days(jobs->trace, values.text("jobs"), windows_asked_for(values));
}

// What the workload's flags are set to; the defaults of the others belong to the version.
std::string workload_text(const Values& values) {
  std::string text = "generated";
  for (const auto& [name, value] : values.all()) {
    if (find_flag(name)->section == "workload") text += fmt::format(" {}={}", name, value.text);
  }
  return text;
}

}  // namespace

Micros window_length(const Values& values) {
  return micros_from_seconds(values.number("window") * 3600);
}

Result<std::vector<workload::Trace>> windows_of_trace(const Values& values,
                                                      const Console& console) {
  const auto origin = job_origin(values);
  if (!origin) return origin.error();
  if (*origin != "trace") return Error{"--all-windows goes with --jobs"};
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  return experiment::trace_windows(jobs->trace, values.text("jobs"), windows_asked_for(values));
}

Result<experiment::DaySource> day_source(const Values& values, const Console& console) {
  const auto origin = job_origin(values);
  if (!origin) return origin.error();
  if (*origin == "trace") return windows_of_file(values, console);
  // Once now, for what is wrong with the options and for the end of the arrivals.
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  experiment::DaySource source;
  source.text = workload_text(values);
  source.window = jobs->window_end;
  auto make = make_days_of_generator(values);
  if (!make) return make.error();
  source.make = *std::move(make);
  return source;
}

}  // namespace partita::cli
