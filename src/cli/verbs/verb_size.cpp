#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/output/progress_bar.h"
#include "cli/text/run_report.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "policies/registry.h"

namespace partita::cli {
namespace {

// One size of the fleet and what it costs.
struct SizedFleet {
  std::uint32_t gpus = 0;
  Finished run;

  bool meets(double late_max) const { return run.result.late_share() <= late_max; }
};

class Sizing {
 public:
  Sizing(const Values& values, const RunJobs& jobs, RunSettings settings)
      : values_(values), jobs_(jobs), settings_(std::move(settings)) {}

  // Runs the fleet of that size, once. An error means that it cannot be run.
  Result<const SizedFleet*> fleet(std::uint32_t gpus);
  const std::vector<SizedFleet>& fleets() const { return fleets_; }

 private:
  const Values& values_;
  const RunJobs& jobs_;
  RunSettings settings_;
  std::vector<SizedFleet> fleets_;  // by number of GPUs
};

Result<const SizedFleet*> Sizing::fleet(std::uint32_t gpus) {
  const auto at = std::lower_bound(fleets_.begin(), fleets_.end(), gpus,
                                   [](const SizedFleet& a, std::uint32_t b) { return a.gpus < b; });
  if (at != fleets_.end() && at->gpus == gpus) return &*at;
  settings_.options.gpus = gpus;
  const auto layouts =
      policies::make_repartitioner(settings_.repartition, *settings_.options.model, gpus);
  if (!layouts) return values_.wrong("repartition", layouts.error());
  auto run = run_one(jobs_.trace, settings_, values_.text("scheduler"), {});
  if (!run) return run.error();
  return &*fleets_.insert(at, {gpus, *std::move(run)});
}

// The fewest GPUs that keep to the target: doubling, then halving the gap. More GPUs hardly ever
// make more jobs late; where they do, a smaller fleet that would do may be passed over.
Result<std::optional<std::uint32_t>> fewest(Sizing& sizing, double late_max, std::uint32_t gpus_max,
                                            ProgressBar& bar) {
  std::uint32_t low = 0;
  std::uint32_t high = 1;
  double late_before = -1;  // twice as many GPUs that change nothing end the search
  while (true) {
    const auto fleet = sizing.fleet(high);
    if (!fleet) return fleet.error();
    if ((*fleet)->meets(late_max)) break;
    const double late = (*fleet)->run.result.late_share();
    if (high == gpus_max || late == late_before) return std::optional<std::uint32_t>{};
    late_before = late;
    low = high;
    high = std::min(gpus_max, high * 2);
    bar.at(-1);
  }
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    const auto fleet = sizing.fleet(middle);
    if (!fleet) return fleet.error();
    ((*fleet)->meets(late_max) ? high : low) = middle;
  }
  return std::optional{high};
}

// Sizes around the answer, so that the curve and its knee show.
Status fill_curve(Sizing& sizing, std::uint32_t around, std::uint32_t gpus_max, ProgressBar& bar) {
  constexpr std::uint32_t kPoints = 12;
  const std::uint32_t first = std::max(1U, around / 2);
  const std::uint32_t last = std::min(gpus_max, around + std::max(2U, around / 2));
  const std::uint32_t step = std::max(1U, (last - first) / kPoints);
  for (std::uint32_t gpus = first; gpus <= last; gpus += step) {
    const auto fleet = sizing.fleet(gpus);
    if (!fleet) return fleet.error();
    bar.at(static_cast<double>(gpus - first) / static_cast<double>(last - first + 1));
  }
  return {};
}

// The size after which tardiness falls little for the energy it costs: the point of the curve that
// lies furthest below the line from its first to its last point, both axes scaled to 1.
std::optional<std::uint32_t> knee_of(const std::vector<SizedFleet>& fleets) {
  if (fleets.size() < 3) return {};
  const auto& first = fleets.front().run.result;
  const auto& last = fleets.back().run.result;
  const double width = last.energy_j - first.energy_j;
  const double height = first.mean_tardiness_s - last.mean_tardiness_s;
  if (width <= 0 || height <= 0) return {};
  std::optional<std::uint32_t> knee;
  double furthest = 0;
  for (const SizedFleet& fleet : fleets) {
    const double x = (fleet.run.result.energy_j - first.energy_j) / width;
    const double y = (fleet.run.result.mean_tardiness_s - last.mean_tardiness_s) / height;
    if (1 - x - y <= furthest) continue;
    furthest = 1 - x - y;
    knee = fleet.gpus;
  }
  return knee;
}

std::string remark_on(const SizedFleet& fleet, std::optional<std::uint32_t> answer,
                      std::optional<std::uint32_t> knee) {
  std::string remark;
  if (answer && fleet.gpus == *answer) remark = "fewest that keep to it";
  if (knee && fleet.gpus == *knee) remark += remark.empty() ? "knee" : ", knee";
  return remark;
}

std::string size_text(const std::vector<SizedFleet>& fleets, double late_max,
                      std::optional<std::uint32_t> answer, std::optional<std::uint32_t> knee,
                      bool bold) {
  Table table({{"GPUs", Align::kRight},
               {"late jobs", Align::kRight},
               {"tardy min", Align::kRight},
               {"kWh", Align::kRight},
               {"ET", Align::kRight},
               {"compute in use", Align::kRight},
               {"", Align::kLeft}});
  for (const SizedFleet& fleet : fleets) {
    const sim::RunResult& result = fleet.run.result;
    table.add({with_commas(fleet.gpus), fmt::format("{:.1f} %", 100 * result.late_share()),
               fmt::format("{:.3f}", result.mean_tardiness_s / 60),
               fmt::format("{:.3f}", result.energy_kwh()), fmt::format("{:.4f}", result.et),
               fmt::format("{:.1f} %", 100 * result.compute_utilisation),
               remark_on(fleet, answer, knee)});
  }
  const std::string head =
      answer ? fmt::format("{} GPUs keep late jobs to {:g} %\n\n", *answer, 100 * late_max)
             : fmt::format("no number of GPUs tried keeps late jobs to {:g} %\n\n", 100 * late_max);
  return head + table.text(bold);
}

nlohmann::ordered_json size_json(const std::vector<SizedFleet>& fleets, double late_max,
                                 std::optional<std::uint32_t> answer,
                                 std::optional<std::uint32_t> knee) {
  nlohmann::ordered_json json{{"max_late", late_max}};
  json["gpus"] = answer ? nlohmann::ordered_json(*answer) : nlohmann::ordered_json(nullptr);
  json["knee"] = knee ? nlohmann::ordered_json(*knee) : nlohmann::ordered_json(nullptr);
  for (const SizedFleet& fleet : fleets) {
    const sim::RunResult& result = fleet.run.result;
    json["curve"].push_back({{"gpus", fleet.gpus},
                             {"late_share", result.late_share()},
                             {"mean_tardiness_s", result.mean_tardiness_s},
                             {"energy_j", result.energy_j},
                             {"et", result.et},
                             {"compute_utilisation", result.compute_utilisation}});
  }
  return json;
}

}  // namespace

Outcome run_size(const Values& values, Console& console) {
  auto settings = run_settings(values);
  if (!settings) return settings.error();
  const double late_max = values.as<double>("max-late");
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  set_horizon(*settings, values, *jobs);
  const auto gpus_max = static_cast<std::uint32_t>(values.count("max-gpus"));
  Sizing sizing(values, *jobs, *settings);
  ProgressBar bar(console.shows_progress, "sizing");
  const auto answer = fewest(sizing, late_max, gpus_max, bar);
  if (!answer) return answer.error();
  const std::uint32_t around = answer->value_or(sizing.fleets().back().gpus / 2 + 1);
  const Status filled = fill_curve(sizing, around, gpus_max, bar);
  if (!filled) return filled.error();
  const auto knee = knee_of(sizing.fleets());
  if (values.has_switch("json")) {
    print_json(console, size_json(sizing.fleets(), late_max, *answer, knee));
  } else {
    console.out.write(size_text(sizing.fleets(), late_max, *answer, knee, console.bold));
  }
  return answer->has_value() ? 0 : 1;
}

}  // namespace partita::cli
