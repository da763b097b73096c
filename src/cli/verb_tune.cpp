#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/day_sources.h"
#include "cli/judging.h"
#include "cli/progress_bar.h"
#include "cli/run_report.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "experiment/seeds.h"
#include "experiment/statistics.h"
#include "experiment/tune.h"

namespace partita::cli {
namespace {

using experiment::Role;

std::string tune_text(const experiment::Tuned& tuned, const Judged& found, const Judged& reference,
                      std::size_t tuning_days, bool bold) {
  Table table({{"on test days", Align::kLeft},
               {"ET", Align::kRight},
               {"kWh a day", Align::kRight},
               {"tardy min", Align::kRight}});
  for (const Judged* each : {&found, &reference}) {
    table.add({each->repartition, with_interval(each->et, 4), with_interval(each->energy_kwh, 3),
               with_interval(each->tardiness_min, 3)});
  }
  table.add({"difference", percent_text(found.et, reference.et),
             percent_text(found.energy_kwh, reference.energy_kwh),
             percent_text(found.tardiness_min, reference.tardiness_min)});
  return fmt::format(
      "--repartition {}\n\nET {:.4f} on {} tuning days, {:.4f} with one layout for "
      "all GPUs; {:.0f} evaluations; judged on {} other days, 95 % intervals\n\n{}",
      found.repartition, tuned.et, tuning_days, tuned.first_et, tuned.evaluations, found.et.size(),
      table.text(bold));
}

nlohmann::ordered_json tune_json(const experiment::Tuned& tuned, const Judged& found,
                                 const Judged& reference, std::size_t tuning_days) {
  nlohmann::ordered_json json{{"repartition", found.repartition},
                              {"tuning_days", tuning_days},
                              {"tuning_et", tuned.et},
                              {"uniform_et", tuned.first_et},
                              {"evaluations", tuned.evaluations},
                              {"test_days", found.et.size()},
                              {"tuned", judged_json(found)},
                              {"reference", judged_json(reference)}};
  const auto percent = percent_json(found.et, reference.et);
  if (!percent.is_null()) json["et_percent"] = percent;
  return json;
}

Result<experiment::Tuned> search(const Values& values, const RunSettings& settings,
                                 const std::vector<workload::Trace>& days, const Console& console) {
  ProgressBar bar(console.shows_progress, "tuning");
  experiment::TuneOptions options;
  options.run = settings.options;
  options.scheduler = values.text("scheduler");
  options.days = days;
  options.segments = values.text("PLAN") == "static" ? 1 : values.count("switches");
  options.evaluations = values.count("evaluations");
  options.seed = settings.seed;
  options.threads = values.given("threads") != nullptr
                        ? static_cast<std::size_t>(values.count("threads"))
                        : std::max(1U, std::thread::hardware_concurrency());
  options.progress = [&](double part) { bar.at(part); };
  return experiment::tune(options);
}

}  // namespace

Outcome run_tune(const Values& values, Console& console) {
  if (values.given("PLAN") == nullptr) return Error{"tune needs the PLAN: static or timetable"};
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  const auto source = day_source(values, console);
  if (!source) return source.error();
  if (source->tune_days_max == 0) {
    return Error{
        fmt::format("{} has fewer than three windows of {:g} hours: none is left to tune "
                    "on; a smaller --window makes more",
                    values.text("jobs"), values.number("window"))};
  }
  const auto days = make_days(*source, Role::kTune, values.count("days"));
  if (!days) return days.error();
  const auto test_days = make_days(*source, Role::kTest, values.count("test-days"));
  if (!test_days) return test_days.error();
  settings->options.horizon =
      values.given("horizon") != nullptr ? values.seconds("horizon") : source->window;
  const auto tuned = search(values, *settings, *days, console);
  if (!tuned) {
    complain(tuned.error().message);
    return 1;
  }
  ProgressBar bar(console.shows_progress, "judging");
  const std::string scheduler = values.text("scheduler");
  const auto found = judge(*test_days, *settings, to_text(tuned->plan), scheduler, bar);
  if (!found) return found.error();
  const auto reference = judge(*test_days, *settings, settings->repartition, scheduler, bar);
  if (!reference) return reference.error();
  if (values.has_switch("json")) {
    print_json(console, tune_json(*tuned, *found, *reference, days->size()));
  } else {
    console.out.write(tune_text(*tuned, *found, *reference, days->size(), console.bold));
  }
  return 0;
}

}  // namespace partita::cli
