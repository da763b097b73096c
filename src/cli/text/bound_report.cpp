#include "cli/text/bound_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/flags/run_settings.h"
#include "experiment/results/bound_record.h"
#include "experiment/results/gaps.h"

namespace partita::cli {
namespace {

nlohmann::ordered_json gap_json(double value, double bound) {
  const std::optional<double> gap = gap_percent(value, bound);
  if (!gap) return nullptr;
  return *gap;
}

}  // namespace

Result<std::optional<RunBounds>> bounds_if_asked(const Values& values, const workload::Trace& trace,
                                                 const sim::RunOptions& options) {
  if (!values.has_switch("bounds")) return std::optional<RunBounds>{};
  const bool interrupts = options.preemption.mode != decide::Preemption::Mode::kNone;
  auto found = experiment::bound_within({values.number("time-limit"), clock_seconds, true}, trace,
                                        options, interrupts);
  if (!found) return values.wrong("bounds", found.error());
  return std::optional(std::move(found->record));
}

std::optional<double> gap_percent(double value, double bound) {
  if (bound > 0) return 100 * (value - bound) / bound;
  if (value == bound) return 0;
  return {};
}

std::string shown_gap(double value, double bound) {
  const std::optional<double> gap = gap_percent(value, bound);
  return gap ? fmt::format("{:.1f} %", *gap) : "-";
}

Status check_bounds(const RunBounds& bounds, const sim::RunResult& result, std::string_view who) {
  experiment::RunRecord run;
  run.energy_j = result.energy_j;
  run.mean_tardiness_s = result.mean_tardiness_s;
  run.et = result.et;
  return experiment::check_bound(who, run, bounds);
}

void add_gaps(nlohmann::ordered_json& json, const RunBounds& bounds, const sim::RunResult& result) {
  json["energy_bound_j"] = bounds.energy_j;
  json["tardiness_bound_s"] = bounds.mean_tardiness_s;
  json["et_bound"] = bounds.et;
  json["energy_gap_percent"] = gap_json(result.energy_j, bounds.energy_j);
  json["tardiness_gap_percent"] = gap_json(result.mean_tardiness_s, bounds.mean_tardiness_s);
  json["et_gap_percent"] = gap_json(result.et, bounds.et);
}

std::string bounds_text(const RunBounds& bounds) {
  return fmt::format("\nno schedule has less than {:.3f} kWh, {:.3f} min of tardiness, ET {:.6g}\n",
                     bounds.energy_j / 3.6e6, bounds.mean_tardiness_s / 60, bounds.et);
}

std::string gaps_text(const RunBounds& bounds, const sim::RunResult& result) {
  const auto line = [](std::string_view what, const std::string& bound, const std::string& gap) {
    return fmt::format("{:<10} no schedule has less than {}; this one is {} above\n", what, bound,
                       gap);
  };
  return "\n" +
         line("energy", fmt::format("{:.3f} kWh", bounds.energy_j / 3.6e6),
              shown_gap(result.energy_j, bounds.energy_j)) +
         line("tardiness", fmt::format("{:.3f} min", bounds.mean_tardiness_s / 60),
              shown_gap(result.mean_tardiness_s, bounds.mean_tardiness_s)) +
         line("ET", fmt::format("{:.6g}", bounds.et), shown_gap(result.et, bounds.et));
}

}  // namespace partita::cli
