#include "cli/text/bound_report.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bounds/instance.h"

namespace partita::cli {
namespace {

nlohmann::ordered_json gap_json(double value, double bound) {
  const std::optional<double> gap = gap_percent(value, bound);
  if (!gap) return nullptr;
  return *gap;
}

}  // namespace

double clock_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

bounds::Runs runs_of(const decide::Preemption& preemption) {
  const bool whole = preemption.mode == decide::Preemption::Mode::kNone;
  return whole ? bounds::Runs::kWhole : bounds::Runs::kSplit;
}

Result<RunBounds> bounds_of_run(const workload::Trace& trace, const sim::RunOptions& options,
                                double seconds_max) {
  const auto instance =
      bounds::make_instance(trace, {options.model, options.power, options.gpus, options.horizon});
  if (!instance) return instance.error();
  bounds::Request request;
  request.et_a = options.et_a;
  request.seconds_max = seconds_max;
  request.use_mip = false;  // minutes, for less than prices give
  request.runs = runs_of(options.preemption);
  request.clock = clock_seconds;
  const bounds::Report report = bounds::find_bounds(*instance, request);
  return RunBounds{report.best(bounds::Kind::kEnergy)->value,
                   report.best(bounds::Kind::kTardiness)->value,
                   report.best(bounds::Kind::kEt)->value};
}

Result<std::optional<RunBounds>> bounds_if_asked(const Values& values, const workload::Trace& trace,
                                                 const sim::RunOptions& options) {
  if (!values.has_switch("bounds")) return std::optional<RunBounds>{};
  const Result<RunBounds> found = bounds_of_run(trace, options, values.number("time-limit"));
  if (!found) return values.wrong("bounds", found.error());
  return std::optional<RunBounds>(*found);
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
  constexpr double kRounding = 1e-9;  // figures of a run are sums of doubles
  struct Pair {
    std::string_view what;
    double value;
    double least;
  };
  const std::array<Pair, 3> pairs{
      {{"energy_j", result.energy_j, bounds.energy_j},
       {"mean_tardiness_s", result.mean_tardiness_s, bounds.tardiness_s},
       {"et", result.et, bounds.et}}};
  for (const Pair& pair : pairs) {
    if (pair.value * (1 + kRounding) >= pair.least) continue;
    return Error{fmt::format(
        "{}: {} is {:.9g}, and its lower bound is {:.9g}; one of them is wrong: please report it",
        who, pair.what, pair.value, pair.least)};
  }
  return {};
}

void add_gaps(nlohmann::ordered_json& json, const RunBounds& bounds, const sim::RunResult& result) {
  json["energy_bound_j"] = bounds.energy_j;
  json["tardiness_bound_s"] = bounds.tardiness_s;
  json["et_bound"] = bounds.et;
  json["energy_gap_percent"] = gap_json(result.energy_j, bounds.energy_j);
  json["tardiness_gap_percent"] = gap_json(result.mean_tardiness_s, bounds.tardiness_s);
  json["et_gap_percent"] = gap_json(result.et, bounds.et);
}

std::string bounds_text(const RunBounds& bounds) {
  return fmt::format("\nno schedule has less than {:.3f} kWh, {:.3f} min of tardiness, ET {:.6g}\n",
                     bounds.energy_j / 3.6e6, bounds.tardiness_s / 60, bounds.et);
}

std::string gaps_text(const RunBounds& bounds, const sim::RunResult& result) {
  const auto line = [](std::string_view what, const std::string& bound, const std::string& gap) {
    return fmt::format("{:<10} no schedule has less than {}; this one is {} above\n", what, bound,
                       gap);
  };
  return "\n" +
         line("energy", fmt::format("{:.3f} kWh", bounds.energy_j / 3.6e6),
              shown_gap(result.energy_j, bounds.energy_j)) +
         line("tardiness", fmt::format("{:.3f} min", bounds.tardiness_s / 60),
              shown_gap(result.mean_tardiness_s, bounds.tardiness_s)) +
         line("ET", fmt::format("{:.6g}", bounds.et), shown_gap(result.et, bounds.et));
}

}  // namespace partita::cli
