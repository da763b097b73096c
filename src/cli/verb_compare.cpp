#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/check.h"
#include "cli/progress_bar.h"
#include "cli/run_report.h"
#include "cli/table.h"
#include "cli/value_parsers.h"
#include "cli/verbs.h"

namespace partita::cli {
namespace {

struct Row {
  std::string scheduler;
  std::optional<Result<Finished>> finished;
  std::atomic<double> part = 0;

  const sim::RunResult& result() const { return (*finished)->result; }
};

// Each row is run by one thread, and its place is fixed beforehand: the number of threads shows in
// nothing but the time.
void run_rows(std::vector<Row>& rows, const workload::Trace& trace, const RunSettings& settings,
              std::size_t thread_count, ProgressBar& bar) {
  std::atomic<std::size_t> next = 0;
  const auto show = [&] {
    double sum = 0;
    for (const Row& row : rows) sum += row.part;
    bar.at(sum / static_cast<double>(rows.size()));
  };
  const auto work = [&] {
    for (std::size_t i = next++; i < rows.size(); i = next++) {
      Row& row = rows[i];
      row.finished = run_one(trace, settings, row.scheduler, [&](double part) {
        row.part = part;
        show();
      });
      row.part = 1;
      show();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < thread_count; ++i) threads.emplace_back(work);
  work();
}

std::size_t threads_for(const Values& values, std::size_t runs) {
  const std::size_t wanted = values.given("threads") != nullptr
                                 ? static_cast<std::size_t>(values.count("threads"))
                                 : std::max(1U, std::thread::hardware_concurrency());
  return std::min(wanted, runs);
}

// "+12.3", or "0.0" for the best itself; "-" when the best is 0 and the other is not.
std::string percent_above(double value, double best) {
  if (value == best) return "0.0";
  if (best == 0) return "-";
  return fmt::format("{:+.1f}", 100 * (value - best) / best);
}

nlohmann::ordered_json percent_json(double value, double best) {
  if (value == best) return 0.0;
  if (best == 0) return nullptr;
  return 100 * (value - best) / best;
}

std::string compare_text(const std::vector<const Row*>& ranked, double et_a, bool bold) {
  Table table({{"scheduler", Align::kLeft},
               {"ET", Align::kRight},
               {"energy part", Align::kRight},
               {"tardiness part", Align::kRight},
               {"ET %", Align::kRight},
               {"kWh", Align::kRight},
               {"kWh %", Align::kRight},
               {"tardy min", Align::kRight},
               {"tardy %", Align::kRight},
               {"p95 min", Align::kRight},
               {"late jobs", Align::kRight}});
  const sim::RunResult& best = ranked.front()->result();
  for (const Row* row : ranked) {
    const sim::RunResult& result = row->result();
    const EtParts parts = et_parts(et_a, result);
    table.add({row->scheduler, fmt::format("{:.4f}", result.et),
               fmt::format("{:.4f}", parts.energy), fmt::format("{:.4f}", parts.tardiness),
               percent_above(result.et, best.et), fmt::format("{:.3f}", result.energy_kwh()),
               percent_above(result.energy_j, best.energy_j),
               fmt::format("{:.3f}", result.mean_tardiness_s / 60),
               percent_above(result.mean_tardiness_s, best.mean_tardiness_s),
               fmt::format("{:.2f}", result.p95_tardiness_s / 60),
               fmt::format("{:.1f} %", 100 * result.late_share())});
  }
  return table.text(bold);
}

nlohmann::ordered_json compare_json(const std::vector<const Row*>& ranked,
                                    const RunSettings& settings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  const sim::RunResult& best = ranked.front()->result();
  for (const Row* row : ranked) {
    nlohmann::ordered_json one = run_json(settings, row->scheduler, **row->finished);
    one["et_percent"] = percent_json(row->result().et, best.et);
    one["energy_percent"] = percent_json(row->result().energy_j, best.energy_j);
    one["tardiness_percent"] = percent_json(row->result().mean_tardiness_s, best.mean_tardiness_s);
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

std::string heading(const RunSettings& settings, std::uint64_t jobs) {
  const sim::RunOptions& options = settings.options;
  return fmt::format(
      "{} jobs on {} x {}, {}, preemption {}; ET with a = {:g}, % against the "
      "best ET\n\n",
      with_commas(jobs), with_commas(options.gpus), options.model->key, settings.repartition,
      format_preemption(options.preemption), options.et_a);
}

}  // namespace

Outcome run_compare(const Values& values, Console& console) {
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  const auto names = parse_schedulers(values.text("schedulers"));
  CHECK(names.ok());  // checked by the record
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  set_horizon(*settings, values, *jobs);
  std::vector<Row> rows(names->size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].scheduler = (*names)[i];
  {
    ProgressBar bar(console.shows_progress, "comparing");
    run_rows(rows, jobs->trace, *settings, threads_for(values, rows.size()), bar);
  }
  for (const Row& row : rows) {
    if (*row.finished) continue;
    complain(row.scheduler + ": " + row.finished->error().message);
    return 1;
  }
  const std::vector<const Row*> ranked = ranked_by_et(rows);
  if (values.has_switch("json")) {
    print_json(console, compare_json(ranked, *settings));
  } else {
    console.out.write(heading(*settings, jobs->trace.jobs.size()));
    console.out.write(compare_text(ranked, settings->options.et_a, console.bold));
  }
  return 0;
}

}  // namespace partita::cli
