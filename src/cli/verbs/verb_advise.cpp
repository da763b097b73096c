#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/flags/day_sources.h"
#include "cli/flags/generator_options.h"
#include "cli/flags/run_settings.h"
#include "cli/flags/value_parsers.h"
#include "cli/flags/workloads.h"
#include "cli/output/output_file.h"
#include "cli/output/progress_bar.h"
#include "cli/output/report_page.h"
#include "cli/text/advise_report.h"
#include "cli/text/bound_report.h"
#include "cli/text/run_report.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "policies/registry.h"

namespace partita::cli {
namespace {

// Says what is there and how much more it takes. `made` is the best that any length of window made.
Error too_few(const Values& values, const workload::Trace& trace, std::size_t made) {
  const std::size_t jobs_min = experiment::Windows{}.jobs_min;
  const Micros last = trace.jobs.empty() ? Micros{} : trace.jobs.back().arrival;
  return Error{fmt::format(
      "{} has {} jobs within {}, and the best that windows of 5 min to 24 h make of them is {} "
      "with "
      "{} jobs or more; advice needs {}, of which every third is tuned on: at least {} jobs, "
      "spread "
      "over time (`partita compare` needs no windows)",
      values.text("jobs"), with_commas(trace.jobs.size()), shown_seconds(last.to_seconds()), made,
      jobs_min, experiment::kAdviseWindowsMin, jobs_min * experiment::kAdviseWindowsMin)};
}

Result<experiment::DaySource> windows_of_jobs(const Values& values, const Console& console) {
  if (values.given("window") != nullptr && values.given("window")->typed) {
    return day_source(values, console);
  }
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  auto best =
      experiment::days_to_advise_on(jobs->trace, values.text("jobs"), values.number("sample"));
  const std::size_t made = best ? best->tune_days_max + best->test_days_max : 0;
  if (made < experiment::kAdviseWindowsMin) return too_few(values, jobs->trace, made);
  return best;
}

Result<experiment::DaySource> days_of(const Values& values, const Console& console) {
  const auto origin = job_origin(values);
  if (!origin) return origin.error();
  return *origin == "trace" ? windows_of_jobs(values, console) : day_source(values, console);
}

Result<experiment::AdviseOptions> options_of(const Values& values) {
  experiment::AdviseOptions options;
  options.run.model = values.as<const mig::GpuModel*>("gpu");
  options.run.gpus = static_cast<std::uint32_t>(values.count("gpus"));
  const auto power = power_of(values, *options.run.model);
  if (!power) return power.error();
  options.run.power = *power;
  options.run.et_a = values.number("et-a");
  if (values.given("checkpoint-cost") != nullptr) {
    options.checkpoint_cost = values.seconds("checkpoint-cost");
  }
  const auto today = policies_of(values, "today", options.run);
  if (!today) return today.error();
  for (const auto& [scheduler, repartition, seed] : *today) {
    options.today.push_back({scheduler + "/" + repartition, scheduler, repartition});
  }
  if (values.given("also-try") != nullptr) {
    const std::string text = values.text("also-try");
    for (const std::string_view word : split(text, ' ')) {
      if (word.empty()) continue;
      const auto made = policies::make_repartitioner(word, *options.run.model, options.run.gpus);
      if (!made) return values.wrong("also-try", made.error());
      options.repartitioners.emplace_back(word);
    }
  }
  if (values.given("evaluations") != nullptr) options.evaluations = values.count("evaluations");
  options.windows_max = values.count("advise-windows");
  options.bound_seconds = values.number("time-limit");
  options.clock = clock_seconds;
  options.seed = values.count("seed");
  options.threads = values.threads();
  return options;
}

Status write_page(const Values& values, const experiment::Advice& advice) {
  const auto page = advice_page(values, advice);
  if (!page) return page.error();
  return write_output(values.text("report"), *page);
}

}  // namespace

Outcome run_advise(const Values& values, Console& console) {
  if (const Status ready = check_report(values); !ready) return ready.error();
  auto options = options_of(values);
  if (!options) return options.error();
  const auto days = days_of(values, console);
  if (!days) return days.error();
  Result<experiment::Advice> advice = Error{""};
  {
    ProgressBar bar(console.shows_progress, "advising");
    options->progress = [&](double part) { bar.at(part); };
    advice = experiment::advise(*days, *options);
  }
  if (!advice) {
    complain(advice.error().message);
    return 1;
  }
  if (values.given("report") != nullptr) {
    if (const Status written = write_page(values, *advice); !written) return written.error();
  }
  return print_either(values, console, advice_json(values, *advice),
                      advice_text(values, *advice, console.bold));
}

}  // namespace partita::cli
