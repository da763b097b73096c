#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/flags/run_settings.h"
#include "cli/flags/workloads.h"
#include "cli/output/progress_bar.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "experiment/tuning/fleet_size.h"

namespace partita::cli {
namespace {

using experiment::FleetSizes;

std::string remark_on(std::uint32_t gpus, const FleetSizes& sizes) {
  std::string remark;
  if (gpus == sizes.fewest) remark = "fewest that keep to it";
  if (gpus == sizes.knee) remark += remark.empty() ? "knee" : ", knee";
  return remark;
}

std::string size_text(const FleetSizes& sizes, double late_max, bool bold) {
  Table table({{"GPUs", Align::kRight},
               {"late jobs", Align::kRight},
               {"tardy min", Align::kRight},
               {"kWh", Align::kRight},
               {"ET", Align::kRight},
               {"compute in use", Align::kRight},
               {"", Align::kLeft}});
  for (const auto& [gpus, result] : sizes.curve) {
    table.add({with_commas(gpus), fmt::format("{:.1f} %", 100 * result.late_share()),
               fmt::format("{:.3f}", result.mean_tardiness_s / 60),
               fmt::format("{:.3f}", result.energy_kwh()), fmt::format("{:.4f}", result.et),
               fmt::format("{:.1f} %", 100 * result.compute_utilisation), remark_on(gpus, sizes)});
  }
  const std::string head =
      sizes.fewest
          ? fmt::format("{} GPUs keep late jobs to {:g} %\n\n", *sizes.fewest, 100 * late_max)
          : fmt::format("no number of GPUs tried keeps late jobs to {:g} %\n\n", 100 * late_max);
  return head + table.text(bold);
}

nlohmann::ordered_json size_json(const FleetSizes& sizes, double late_max) {
  nlohmann::ordered_json json{{"max_late", late_max}, {"gpus", nullptr}, {"knee", nullptr}};
  if (sizes.fewest) json["gpus"] = *sizes.fewest;
  if (sizes.knee) json["knee"] = *sizes.knee;
  for (const auto& [gpus, result] : sizes.curve) {
    json["curve"].push_back({{"gpus", gpus},
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
  const auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  settings->options.horizon = horizon_of(values, jobs->window_end);
  ProgressBar bar(console.shows_progress, "sizing");
  const experiment::SizeOptions options{
      .late_max = values.as<double>("max-late"),
      .gpus_max = static_cast<std::uint32_t>(values.count("max-gpus")),
      .layouts_place = values.place("repartition"),
      .progress = [&](double part) { bar.at(part); }};
  const auto sizes =
      experiment::size_fleet(jobs->trace, settings->options, settings->policy, options);
  if (!sizes) return sizes.error();
  print_either(values, console, size_json(*sizes, options.late_max),
               size_text(*sizes, options.late_max, console.bold));
  return sizes->fewest ? 0 : 1;
}

}  // namespace partita::cli
