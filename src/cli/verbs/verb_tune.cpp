#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/flags/day_sources.h"
#include "cli/flags/run_settings.h"
#include "cli/output/progress_bar.h"
#include "cli/text/judged_text.h"
#include "cli/text/table.h"
#include "cli/text/tune_report.h"
#include "cli/verbs/verbs.h"
#include "experiment/seeds.h"
#include "experiment/statistics/statistics.h"
#include "experiment/tuning/tune.h"
#include "policies/layout_list.h"

namespace partita::cli {
namespace {

using experiment::Judged;
using experiment::Role;
using Days = std::vector<workload::Trace>;

struct TuneDays {
  Days tune;
  Days test;  // none when the test days are tuned on as well
  Micros window;
};

Result<TuneDays> days_of(const Values& values, const Console& console) {
  TuneDays days;
  if (values.has_switch("all-windows")) {
    auto windows = windows_of_trace(values, console);
    if (!windows) return windows.error();
    days.tune = *std::move(windows);
    days.window = window_length(values);
    return days;
  }
  const auto source = day_source(values, console);
  if (!source) return source.error();
  if (source->tune_days_max == 0) {
    return Error{
        fmt::format("{} has fewer than three windows of {:g} hours: none is left to tune "
                    "on; a smaller --window makes more",
                    values.text("jobs"), values.number("window"))};
  }
  auto tune = make_days(*source, Role::kTune, values.count("days"));
  if (!tune) return tune.error();
  auto test = make_days(*source, Role::kTest, values.count("test-days"));
  if (!test) return test.error();
  return TuneDays{*std::move(tune), *std::move(test), source->window};
}

Result<experiment::TunedMix> search(const Values& values, const RunSettings& settings,
                                    const TuneDays& days, const Console& console) {
  ProgressBar bar(console.shows_progress, "tuning");
  experiment::TuneOptions options;
  options.segments = values.text("PLAN") == "static" ? 1 : values.count("switches");
  options.evaluations = values.count("evaluations");
  options.folds = values.count("folds");
  options.references = {"none"};
  if (settings.policy.repartition != "none") {
    options.references.push_back(settings.policy.repartition);
  }
  options.also_to_fit = days.test;
  options.seed = settings.policy.seed;
  options.threads = values.threads();
  options.progress = [&](double part) { bar.at(part); };
  return experiment::tune_mix(
      days.tune, {settings.options, settings.policy.scheduler, settings.policy.seed}, options);
}

// The tuned plan and the reference on test days. What cannot run them all is told why instead.
struct OnTestDays {
  Judged tuned;
  Result<Judged> reference;
};

Result<OnTestDays> judge_both(const RunSettings& settings, const Days& days,
                              const std::string& tuned, const Console& console) {
  ProgressBar bar(console.shows_progress, "judging");
  const auto progress = [&](double part) { bar.at(part); };
  experiment::Policy policy = settings.policy;
  policy.repartition = tuned;
  auto found = experiment::judge(days, settings.options, policy, progress);
  if (!found) return found.error();
  return OnTestDays{*std::move(found),
                    experiment::judge(days, settings.options, settings.policy, progress)};
}

std::string test_text(const OnTestDays& judged, bool bold) {
  const Judged& tuned = judged.tuned;
  Table table({{"on test days", Align::kLeft},
               {"ET", Align::kRight},
               {"kWh a day", Align::kRight},
               {"tardy min", Align::kRight}});
  const auto add = [&](const Judged& each) {
    table.add({policies::with_runs(each.policy.repartition), with_interval(each.et, 4),
               with_interval(each.energy_kwh, 3), with_interval(each.tardiness_min, 3)});
  };
  add(tuned);
  if (judged.reference) {
    const Judged& reference = *judged.reference;
    add(reference);
    table.add({"difference", percent_text(tuned.et, reference.et),
               percent_text(tuned.energy_kwh, reference.energy_kwh),
               percent_text(tuned.tardiness_min, reference.tardiness_min)});
  }
  std::string text =
      fmt::format("\nJudged on {} other days\n\n{}", tuned.et.size(), table.text(bold));
  if (!judged.reference) {
    text += fmt::format("\nThe layouts of --repartition cannot run them: {}\n",
                        judged.reference.error().message);
  }
  return text;
}

void add_test_json(nlohmann::ordered_json& json, const OnTestDays& judged) {
  json["test_days"] = judged.tuned.et.size();
  json["tuned"] = judged_json(judged.tuned);
  if (!judged.reference) return;
  json["reference"] = judged_json(*judged.reference);
  const auto percent = percent_json(judged.tuned.et, judged.reference->et);
  if (!percent.is_null()) json["et_percent"] = percent;
}

}  // namespace

Outcome run_tune(const Values& values, Console& console) {
  if (values.given("PLAN") == nullptr) return Error{"tune needs the PLAN: static or timetable"};
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  const auto days = days_of(values, console);
  if (!days) return days.error();
  settings->options.horizon = horizon_of(values, days->window);
  const auto tuned = search(values, *settings, *days, console);
  if (!tuned) {
    complain(tuned.error().message);
    return 1;
  }
  nlohmann::ordered_json json = tuned_json(*tuned);
  std::string text = tuned_text(*tuned, console.bold);
  if (!days->test.empty()) {
    const auto judged = judge_both(*settings, days->test, to_text(tuned->plan), console);
    if (!judged) {
      complain(judged.error().message);
      return 1;
    }
    add_test_json(json, *judged);
    text += test_text(*judged, console.bold);
  }
  return print_either(values, console, json, text);
}

}  // namespace partita::cli
