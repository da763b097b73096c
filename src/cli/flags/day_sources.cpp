#include "cli/flags/day_sources.h"

#include <fmt/format.h>

#include "base/check.h"
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

Values with_seed(const Values& values, std::uint64_t seed) {
  Values of_day = values;
  const Status set =
      of_day.set(*find_flag("seed"), {std::to_string(seed), "the seed of a day", true});
  CHECK(set.ok());
  return of_day;
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
  source.make = [values](std::uint64_t seed) -> Result<workload::Trace> {
    return generate_jobs(with_seed(values, seed));
  };
  return source;
}

}  // namespace partita::cli
