#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/parallel.h"
#include "cli/flags/value_parsers.h"
#include "cli/flags/workloads.h"
#include "cli/output/progress_bar.h"
#include "cli/output/report_page.h"
#include "cli/output/run_files.h"
#include "cli/text/bound_report.h"
#include "cli/text/run_report.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "policies/layout_list.h"

namespace partita::cli {
namespace {

struct Row {
  std::string name;  // the scheduler, with its layouts where they are not those of all
  RunSettings settings;
  std::optional<Result<experiment::PolicyRun>> finished;
  std::atomic<double> part = 0;

  const sim::RunResult& result() const { return (*finished)->result; }
};

// Each row is run by one thread, and its place is fixed beforehand: the number of threads shows in
// nothing but the time.
void run_rows(std::vector<Row>& rows, const workload::Trace& trace, std::size_t threads,
              ProgressBar& bar) {
  const auto show = [&](Row& row, double part) {
    row.part = part;
    double sum = 0;
    for (const Row& each : rows) sum += each.part;
    bar.at(sum / static_cast<double>(rows.size()));
  };
  for_each_index(rows.size(), threads, [&](std::size_t i, std::size_t) {
    Row& row = rows[i];
    row.finished = experiment::run_policy(trace, row.settings.options, row.settings.policy,
                                          {[&](double part) { show(row, part); }, clock_seconds});
    show(row, 1);
  });
}

// "+12.3", or "0.0" for the best itself; "-" when the best is 0 and the other is not.
std::string percent_above(double value, double best) {
  if (value == best) return "0.0";
  if (best == 0) return "-";
  return fmt::format("{:+.1f}", 100 * (value - best) / best);
}

nlohmann::ordered_json percent_above_json(double value, double best) {
  if (value == best) return 0.0;
  if (best == 0) return nullptr;
  return 100 * (value - best) / best;
}

std::string heading(const RunSettings& settings, std::uint64_t jobs) {
  const sim::RunOptions& options = settings.options;
  return fmt::format(
      "{} jobs on {} x {}, {}, preemption {}; ET with a = {:g}, % against the "
      "best ET\n\n",
      with_commas(jobs), with_commas(options.gpus), options.model->key,
      policies::with_runs(settings.policy.repartition), format_preemption(options.preemption),
      options.et_a);
}

std::string compare_text(const std::vector<const Row*>& ranked, const RunSettings& settings,
                         const std::optional<RunBounds>& bounds, bool bold) {
  std::vector<Table::Column> columns{
      {"scheduler", Align::kLeft},    {"ET", Align::kRight},
      {"energy part", Align::kRight}, {"tardiness part", Align::kRight},
      {"ET %", Align::kRight},        {"kWh", Align::kRight},
      {"kWh %", Align::kRight},       {"tardy min", Align::kRight},
      {"tardy %", Align::kRight},     {"p95 min", Align::kRight},
      {"late jobs", Align::kRight}};
  if (bounds) columns.push_back({"ET over bound", Align::kRight});
  Table table(std::move(columns));
  const sim::RunResult& best = ranked.front()->result();
  for (const Row* row : ranked) {
    const sim::RunResult& result = row->result();
    const EtParts parts = et_parts(settings.options.et_a, result);
    std::vector<std::string> cells{policies::with_runs(row->name),
                                   fmt::format("{:.4f}", result.et),
                                   fmt::format("{:.4f}", parts.energy),
                                   fmt::format("{:.4f}", parts.tardiness),
                                   percent_above(result.et, best.et),
                                   fmt::format("{:.3f}", result.energy_kwh()),
                                   percent_above(result.energy_j, best.energy_j),
                                   fmt::format("{:.3f}", result.mean_tardiness_s / 60),
                                   percent_above(result.mean_tardiness_s, best.mean_tardiness_s),
                                   fmt::format("{:.2f}", result.p95_tardiness_s / 60),
                                   fmt::format("{:.1f} %", 100 * result.late_share())};
    if (bounds) cells.push_back(shown_gap(result.et, bounds->et));
    table.add(std::move(cells));
  }
  return heading(settings, best.jobs) + table.text(bold) + (bounds ? bounds_text(*bounds) : "");
}

nlohmann::ordered_json compare_json(const std::vector<const Row*>& ranked,
                                    const std::optional<RunBounds>& bounds) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  const sim::RunResult& best = ranked.front()->result();
  for (const Row* row : ranked) {
    nlohmann::ordered_json one = run_json(row->settings, **row->finished);
    one["et_percent"] = percent_above_json(row->result().et, best.et);
    one["energy_percent"] = percent_above_json(row->result().energy_j, best.energy_j);
    one["tardiness_percent"] =
        percent_above_json(row->result().mean_tardiness_s, best.mean_tardiness_s);
    if (bounds) add_gaps(one, *bounds, row->result());
    json.push_back(std::move(one));
  }
  return json;
}

std::vector<const Row*> ranked_by_et(const std::vector<Row>& rows) {
  std::vector<const Row*> ranked;
  for (const Row& row : rows) ranked.push_back(&row);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Row* a, const Row* b) { return a->result().et < b->result().et; });
  return ranked;
}

using experiment::Policy;

// The word before the colon of the rule, or the whole where two would have the same name.
std::string short_name(const Policy& policy, std::span<const Policy> all) {
  const auto word = [](const Policy& one) {
    return one.scheduler + "/" + one.repartition.substr(0, one.repartition.find(':'));
  };
  const auto same =
      std::ranges::count_if(all, [&](const Policy& other) { return word(other) == word(policy); });
  return same > 1 ? policy.scheduler + "/" + policy.repartition : word(policy);
}

Result<std::vector<Row>> rows_of(const Values& values, const RunSettings& settings) {
  const auto& names = values.as<std::vector<std::string>>("schedulers");
  const auto also = policies_of(values, "also", settings.options);
  if (!also) return also.error();
  std::vector<Row> rows(names.size() + also->size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    row.settings = settings;
    if (i < names.size()) {
      row.name = row.settings.policy.scheduler = names[i];
      continue;
    }
    const Policy& policy = (*also)[i - names.size()];
    row.name = short_name(policy, *also);
    row.settings.policy = policy;
  }
  return rows;
}

// What the others are compared with on the page: the scheduler that partita takes by default.
std::string reference_of(const std::vector<Row>& rows) {
  const std::string usual(find_flag("scheduler")->default_text);
  const bool there = std::ranges::any_of(rows, [&](const Row& row) { return row.name == usual; });
  return there ? usual : rows.front().name;
}

// Runs the best policy again, now with every piece of it kept.
Result<std::string> page_of(const Values& values, const workload::Trace& trace,
                            const std::vector<Row>& rows, const Row& best,
                            const std::optional<RunBounds>& bounds) {
  RunSettings settings = best.settings;
  settings.options.keep_jobs = true;
  settings.options.keep_schedule = true;
  const auto again = experiment::run_policy(trace, settings.options, settings.policy);
  if (!again) return again.error();
  std::vector<PageRun> runs;
  for (const Row& row : rows) {
    runs.push_back({row.name, row.settings.policy, &row.result()});
  }
  const PageRun detailed{best.name, settings.policy, &again->result};
  return page_of_runs(Verb::kCompare, values, settings, trace, runs, reference_of(rows), detailed,
                      bounds);
}

}  // namespace

Outcome run_compare(const Values& values, Console& console) {
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  if (const Status ready = check_report(values); !ready) return ready.error();
  auto files = RunFiles::open(values);
  if (!files) return files.error();
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  settings->options.horizon = horizon_of(values, jobs->window_end);
  auto rows = rows_of(values, *settings);
  if (!rows) return rows.error();
  {
    ProgressBar bar(console.shows_progress, "comparing");
    run_rows(*rows, jobs->trace, values.threads(), bar);
  }
  for (const Row& row : *rows) {
    if (*row.finished) continue;
    complain(row.name + ": " + row.finished->error().message);
    return 1;
  }
  const std::vector<const Row*> ranked = ranked_by_et(*rows);
  const auto bounds = bounds_if_asked(values, jobs->trace, settings->options);
  if (!bounds) return bounds.error();
  for (const Row* row : ranked) {
    const Status sound = *bounds ? check_bounds(**bounds, row->result(), row->name) : Status{};
    if (!sound) return sound.error();
  }
  if (files->wants_report()) {
    const auto page = page_of(values, jobs->trace, *rows, *ranked.front(), *bounds);
    if (!page) return page.error();
    const Status written =
        files->write(jobs->trace, settings->options, ranked.front()->result(), *page);
    if (!written) return written.error();
  }
  return print_either(values, console, compare_json(ranked, *bounds),
                      compare_text(ranked, *settings, *bounds, console.bold));
}

}  // namespace partita::cli
