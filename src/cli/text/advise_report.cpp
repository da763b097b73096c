#include "cli/text/advise_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/flags/value_parsers.h"
#include "cli/output/report_page.h"
#include "cli/text/judged_text.h"
#include "cli/text/run_report.h"
#include "cli/text/table.h"
#include "experiment/statistics/joint_changes.h"
#include "policies/layout_list.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/page_template.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;
using experiment::Advice;
using experiment::AdvisedPolicy;
using experiment::JointChanges;
using experiment::RunRecord;
using experiment::TriedPolicy;
using policies::with_runs;

// Above this the queue grows from window to window.
constexpr double kOverrunMax = 1.5;

// One figure that is compared, in the unit it is shown in.
struct Figure {
  const char* name;
  const char* key;
  int digits;
  std::vector<double> (*values)(const TriedPolicy&);
};

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

constexpr std::array kFigures = std::to_array<Figure>({
    {"ET", "et", 4, [](const TriedPolicy& t) { return t.values(&RunRecord::et); }},
    {"energy, kWh", "energy_kwh", 2,
     [](const TriedPolicy& t) { return scaled(t.values(&RunRecord::energy_j), 1 / 3.6e6); }},
    {"tardiness, min", "tardiness_min", 2,
     [](const TriedPolicy& t) { return scaled(t.values(&RunRecord::mean_tardiness_s), 1.0 / 60); }},
    {"mean wait, min", "mean_wait_min", 2,
     [](const TriedPolicy& t) { return scaled(t.values(&RunRecord::mean_wait_s), 1.0 / 60); }},
    {"p95 wait, min", "p95_wait_min", 2,
     [](const TriedPolicy& t) { return scaled(t.p95_wait_s, 1.0 / 60); }},
    {"late jobs, %", "late_percent", 1,
     [](const TriedPolicy& t) { return scaled(t.values(&RunRecord::late_share), 100); }},
});

// As a POSIX shell takes it.
std::string quoted(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \t\n;'\"*?()&|<>$`\\!#~{}[]") == std::string::npos) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

double geometric_ratio(const TriedPolicy& policy, const TriedPolicy& reference) {
  double sum = 0;
  for (std::size_t i = 0; i < policy.runs.size(); ++i) {
    sum += std::log(policy.runs[i].et / reference.runs[i].et);
  }
  return std::exp(sum / static_cast<double>(policy.runs.size()));
}

Json policy_json(const AdvisedPolicy& policy) {
  return {{"name", policy.name},
          {"scheduler", policy.scheduler},
          {"repartition", policy.repartition},
          {"preemption", format_preemption(policy.preemption)}};
}

Json figures_json(const TriedPolicy& tried) {
  Json json = Json::object();
  for (const Figure& figure : kFigures) json[figure.key] = mean_json(figure.values(tried));
  return json;
}

// How many of today's policies the advice is compared with.
std::size_t comparisons_of(const Advice& advice) {
  return static_cast<std::size_t>(std::ranges::count_if(advice.today, &TriedPolicy::ran));
}

// The changes against today's policies, with intervals that hold for all of them at once. The page
// compares as many, so that it shows the same.
JointChanges changes_of(const Advice& advice) {
  return {advice.judged.runs.size(), std::max<std::size_t>(1, comparisons_of(advice))};
}

Json changes_json(const Advice& advice, const TriedPolicy& today) {
  const JointChanges changes = changes_of(advice);
  Json json = Json::object();
  for (const Figure& figure : kFigures) {
    json[figure.key] = percent_json(changes.of(figure.values(advice.judged), figure.values(today)));
  }
  json["et_geometric_percent"] = 100 * (geometric_ratio(advice.judged, today) - 1);
  return json;
}

// One table for each of today's policies.
std::string today_tables(const Advice& advice, bool bold) {
  const JointChanges changes = changes_of(advice);
  std::string text;
  for (const TriedPolicy& today : advice.today) {
    const std::string name = with_runs(today.policy.name);
    if (!today.ran()) {
      text +=
          fmt::format("Left out: today's {} cannot run every job ({})\n\n", name, today.cannot_run);
      continue;
    }
    text += fmt::format("Against today's {} ({}/{})", name, today.policy.scheduler,
                        with_runs(today.policy.repartition));
    Table table({{"mean of the held-out windows", Align::kLeft},
                 {"today", Align::kRight},
                 {"advised", Align::kRight},
                 {"change", Align::kRight}});
    for (const Figure& figure : kFigures) {
      const std::vector<double> before = figure.values(today);
      const std::vector<double> advised = figure.values(advice.judged);
      const auto change = changes.of(advised, before);
      table.add({figure.name, with_interval(before, figure.digits),
                 with_interval(advised, figure.digits), change ? percent_text(*change) : "-"});
    }
    text += "\n\n" + table.text(bold) + "\n";
  }
  return text;
}

// Where there is nothing to compare with.
std::string figures_table(const Advice& advice, bool bold) {
  Table table({{"mean of the held-out windows", Align::kLeft}, {"advised", Align::kRight}});
  for (const Figure& figure : kFigures) {
    table.add({figure.name, with_interval(figure.values(advice.judged), figure.digits)});
  }
  return table.text(bold) + "\n";
}

std::string portfolio_table(const Advice& advice, bool bold) {
  Table table(
      {{"tried on the tuning windows", Align::kLeft}, {"ET", Align::kRight}, {"", Align::kLeft}});
  for (const TriedPolicy& tried : advice.portfolio) {
    const std::vector<double> et = tried.values(&RunRecord::et);
    table.add({with_runs(tried.policy.name), tried.ran() ? with_interval(et, 4) : "cannot run",
               tried.ran() ? tried.remark : tried.cannot_run});
  }
  return table.text(bold);
}

// Of today's, what the advice is compared with, if there is one that can run every job.
const TriedPolicy* rival_of(const Advice& advice) {
  return advice.compared_with ? &advice.today[*advice.compared_with] : nullptr;
}

// The held-out windows decide, whatever was found on the others.
bool loses(const Advice& advice) {
  const TriedPolicy* rival = rival_of(advice);
  return !advice.keep_today && rival != nullptr && advice.judged.mean_et() > rival->mean_et();
}

std::string layouts_sentence(const Advice& advice) {
  if (advice.keep_today) return "Keep what is done today: nothing else was decidedly better.";
  if (loses(advice)) {
    return fmt::format(
        "Keep today's {}: on the held-out windows the best of the others was not better.",
        with_runs(rival_of(advice)->policy.name));
  }
  if (!advice.no_static.empty()) return "No static layouts can run every job.";
  return advice.static_is_enough ? "Static layouts are enough: changing them did not pay."
                                 : "Layouts that change with the load pay here.";
}

std::string sentence_of(const Advice& advice) {
  std::string text = layouts_sentence(advice);
  if (!advice.no_static.empty()) {
    text += fmt::format(" Left out: mixes of static layouts ({}).", advice.no_static);
  }
  const TriedPolicy* today = rival_of(advice);
  if (today == nullptr) {
    return text + " None of today's policies can run every job, so nothing is compared with them.";
  }
  const auto change =
      changes_of(advice).of(advice.judged.values(&RunRecord::et), today->values(&RunRecord::et));
  return text +
         fmt::format(
             " Against the best of today's ({}), ET changes by {}, {:+.1f} % in the geometric mean "
             "of the windows.",
             with_runs(today->policy.name), change ? percent_text(*change) : "-",
             100 * (geometric_ratio(advice.judged, *today) - 1));
}

// Which intervals are shown, and for how much they hold together.
std::string intervals_sentence(const Advice& advice) {
  constexpr const char* kMeans = "± is the 95 % interval of one mean.";
  const std::size_t comparisons = comparisons_of(advice);
  if (comparisons == 0) return kMeans;
  const JointChanges changes = changes_of(advice);
  if (!changes.has_interval()) {
    return fmt::format("{} For intervals of the changes there are too few windows.", kMeans);
  }
  if (comparisons == 1) return fmt::format("{} Changes have 95 % intervals.", kMeans);
  return fmt::format(
      "{} For each figure, the intervals of the changes hold for all {} of today's policies at "
      "once with 95 %, {:.1f} % each.",
      kMeans, comparisons, 100 * changes.confidence_each());
}

std::string drivers_text(const Advice& advice) {
  if (advice.drivers.empty()) return "";
  std::string text =
      fmt::format("What drives it, from {}, each part by itself on average:", advice.drivers_from);
  for (const experiment::Driver& driver : advice.drivers) {
    text += fmt::format(" {} {:+.1f} %", driver.part, 100 * driver.change);
    text += &driver == &advice.drivers.back() ? ".\n" : ",";
  }
  return text;
}

std::string wrong_text(const Advice& advice) {
  std::string text;
  const double exact = advice.judged.mean_et();
  for (const experiment::WrongEstimates& wrong : advice.wrong) {
    text += fmt::format("Run times wrong by about {:.0f} %: its ET changes by {:+.1f} %",
                        100 * wrong.error, 100 * (wrong.et_advised / exact - 1));
    if (wrong.et_today) {
      text += fmt::format(", and is {:+.1f} % against {} with the same wrong times",
                          100 * (wrong.et_advised / *wrong.et_today - 1),
                          with_runs(rival_of(advice)->policy.name));
    }
    text += ".\n";
  }
  return text;
}

std::string bound_text(const Advice& advice) {
  if (advice.bounds.empty()) return "";
  std::string text = fmt::format(
      "On {} of the windows its ET is {:.0f} % above a bound that no policy can beat.\n",
      advice.bounds.size(), 100 * advice.bound_gap);
  if (advice.bounds_cut_short > 0) {
    text += fmt::format(
        "The search for that bound was cut short by --time-limit on {} of them: a longer one may "
        "prove that it is closer.\n",
        advice.bounds_cut_short);
  }
  return text;
}

Json table_figure(const char* title, const std::string& note, std::vector<std::string> columns,
                  Json rows) {
  return {{"title", title},
          {"note", note},
          {"kind", "table"},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

Json figures_of(const Advice& advice) {
  Json figures = Json::array();
  Json tried = Json::array();
  for (const TriedPolicy& each : advice.portfolio) {
    tried.push_back({with_runs(each.policy.name), with_runs(each.policy.repartition),
                     each.ran() ? fmt::format("{:.4f}", each.mean_et()) : "cannot run",
                     each.ran() ? each.remark : each.cannot_run});
  }
  figures.push_back(table_figure("What was tried", "On the tuning windows, best first.",
                                 {"policy", "layouts", "ET", "remark"}, std::move(tried)));
  Json drivers = Json::array();
  for (const experiment::Driver& driver : advice.drivers) {
    drivers.push_back({driver.part, fmt::format("{:+.1f} %", 100 * driver.change)});
  }
  if (!drivers.empty()) {
    figures.push_back(
        table_figure("What drives the change of ET",
                     fmt::format("From {}; Shapley's value of the logarithm.", advice.drivers_from),
                     {"part", "change"}, std::move(drivers)));
  }
  Json wrong = Json::array();
  for (const experiment::WrongEstimates& each : advice.wrong) {
    wrong.push_back({fmt::format("{:.0f} %", 100 * each.error),
                     fmt::format("{:.4f}", each.et_advised),
                     each.et_today ? fmt::format("{:.4f}", *each.et_today) : "cannot run"});
  }
  figures.push_back(table_figure("When run times are wrong", "ET, by how wrong they are.",
                                 {"wrong by about", "advised", "today"}, std::move(wrong)));
  return figures;
}

}  // namespace

AdviceCommands advice_commands(const Values& values, const AdvisedPolicy& policy,
                               const std::string& repartition) {
  const std::string preemption = format_preemption(policy.preemption);
  std::string workload;
  for (const auto& [name, value] : values.all()) {
    const FlagRecord* flag = find_flag(name);
    const bool taken = flag->section == "workload" || flag->section == "cluster" ||
                       flag->section == "score" || name == "seed";
    if (!value.typed || !taken) continue;
    if (name == "window" || name == "sample") continue;  // simulate takes the jobs whole
    workload += flag->is_switch() ? " " + shown_name(*flag)
                                  : fmt::format(" {} {}", shown_name(*flag), quoted(value.text));
  }
  return {fmt::format("partita simulate{} --scheduler {} --repartition {} --preemption {}",
                      workload, policy.scheduler, quoted(repartition), preemption),
          fmt::format("partita serve --backend nvml --policy {} --preemption {}",
                      quoted(policy.scheduler + "/" + repartition), preemption)};
}

Json advice_json(const Values& values, const Advice& advice) {
  const AdviceCommands commands =
      advice_commands(values, advice.advised, advice.advised.repartition);
  Json json{{"advised", policy_json(advice.advised)},
            {"simulate", commands.simulate},
            {"serve", commands.serve},
            {"static_is_enough", advice.static_is_enough},
            {"keep_today", advice.keep_today || loses(advice)},
            {"window_h", advice.window.to_seconds() / 3600},
            {"overrun", advice.overrun},
            {"tune_windows", advice.tune_windows},
            {"test_windows", advice.test_windows},
            {"comparisons", comparisons_of(advice)},
            {"figures", figures_json(advice.judged)}};
  json["today"] = Json::array();
  for (const TriedPolicy& today : advice.today) {
    Json row = policy_json(today.policy);
    if (today.ran()) {
      row["figures"] = figures_json(today);
      row["change_percent"] = changes_json(advice, today);
    } else {
      row["cannot_run"] = today.cannot_run;
    }
    json["today"].push_back(std::move(row));
  }
  const TriedPolicy* rival = rival_of(advice);
  json["compared_with"] = rival == nullptr ? Json() : Json(rival->policy.name);
  json["no_static_mix"] = advice.no_static.empty() ? Json() : Json(advice.no_static);
  json["drivers_from"] = advice.drivers_from;
  json["drivers"] = Json::object();
  for (const experiment::Driver& driver : advice.drivers) {
    json["drivers"][driver.part] = 100 * driver.change;
  }
  json["wrong_estimates"] = Json::array();
  for (const experiment::WrongEstimates& wrong : advice.wrong) {
    json["wrong_estimates"].push_back(
        {{"error", wrong.error},
         {"et_advised", wrong.et_advised},
         {"et_today", wrong.et_today ? Json(*wrong.et_today) : Json()}});
  }
  json["bound_windows"] = advice.bounds.size();
  json["bounds_cut_short"] = advice.bounds_cut_short;
  json["above_bound_percent"] = 100 * advice.bound_gap;
  json["portfolio"] = Json::array();
  for (const TriedPolicy& tried : advice.portfolio) {
    Json row = policy_json(tried.policy);
    if (tried.ran()) row["et"] = mean_json(tried.values(&RunRecord::et));
    row["remark"] = tried.ran() ? tried.remark : tried.cannot_run;
    json["portfolio"].push_back(std::move(row));
  }
  return json;
}

std::string advice_text(const Values& values, const Advice& advice, bool bold) {
  const AdvisedPolicy& use = loses(advice) ? rival_of(advice)->policy : advice.advised;
  const std::string rule = with_runs(use.repartition);
  const AdviceCommands commands = advice_commands(values, use, rule);
  std::string text = fmt::format("Use {} with {} and preemption {}:\n\n  {}\n  {}\n\n{}\n\n",
                                 use.scheduler, rule, format_preemption(use.preemption),
                                 commands.serve, commands.simulate, sentence_of(advice));
  if (rival_of(advice) == nullptr) text += figures_table(advice, bold);
  text += today_tables(advice, bold) + drivers_text(advice) + wrong_text(advice);
  text += bound_text(advice);
  if (advice.overrun > kOverrunMax) {
    text += fmt::format(
        "The fleet does not keep up: the jobs of a window take {:.1f} times its length. On these "
        "GPUs the queue grows, and no policy changes that.\n",
        advice.overrun);
  }
  const std::string length = advice.window > Micros{}
                                 ? " of " + shown_seconds(advice.window.to_seconds())
                                 : "";  // a batch of jobs has none
  text += fmt::format(
      "\nChosen on {} windows{}, judged on {} others; each begins with idle GPUs. {}\n\n",
      advice.tune_windows, length, advice.test_windows, intervals_sentence(advice));
  return text + portfolio_table(advice, bold);
}

Result<std::string> advice_page(const Values& values, const Advice& advice) {
  std::vector<RunRecord> runs = advice.judged.runs;
  for (const TriedPolicy& today : advice.today) {
    runs.insert(runs.end(), today.runs.begin(), today.runs.end());
  }
  report::PageInput input{.runs = runs, .notes = {}};
  const std::string rule = with_runs(advice.advised.repartition);
  const AdviceCommands commands = advice_commands(values, advice.advised, rule);
  input.notes.title = fmt::format("Advice: {} with {}, preemption {}", advice.advised.scheduler,
                                  rule, format_preemption(advice.advised.preemption));
  // The page has its own figures, with the intervals of the test that decides.
  input.notes.source = layouts_sentence(advice) + " " + commands.serve;
  input.notes.generated_by = command_text(Verb::kAdvise, values);
  const AdvisedPolicy& reference = advice.compared_with ? rival_of(advice)->policy : advice.advised;
  input.notes.settings = {{runs.front().setting, reference.name}};
  input.notes.figures = figures_of(advice);
  const auto data = report::page_data(input);
  if (!data) return data.error();
  return report::fill_page(report::page_template(), *data);
}

}  // namespace partita::cli
