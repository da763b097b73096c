#include "cli/verbs/judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiment/statistics/statistics.h"

namespace partita::cli {
Result<std::vector<workload::Trace>> make_days(const experiment::DaySource& source,
                                               experiment::Role role, std::uint64_t count) {
  const std::uint64_t most =
      role == experiment::Role::kTest ? source.test_days_max : source.tune_days_max;
  std::vector<workload::Trace> days;
  for (std::uint64_t day = 0; day < std::min(count, most); ++day) {
    Result<workload::Trace> made = source.make(experiment::day_seed(role, day));
    if (!made) return made.error();
    days.push_back(*std::move(made));
  }
  return days;
}

Result<Judged> judge(const std::vector<workload::Trace>& days, RunSettings settings,
                     const std::string& repartition, const std::string& scheduler,
                     ProgressBar& bar) {
  settings.repartition = repartition;
  Judged judged{repartition, scheduler, repartition, {}, {}, {}, {}};
  for (std::size_t day = 0; day < days.size(); ++day) {
    const auto finished = run_one(days[day], settings, scheduler, {});
    if (!finished) return finished.error();
    judged.et.push_back(finished->result.et);
    judged.energy_kwh.push_back(finished->result.energy_kwh());
    judged.tardiness_min.push_back(finished->result.mean_tardiness_s / 60);
    judged.late_percent.push_back(100 * finished->result.late_share());
    bar.at(static_cast<double>(day + 1) / static_cast<double>(days.size()));
  }
  return judged;
}

std::string with_interval(std::span<const double> values, int digits) {
  const auto interval = experiment::t_interval(values);
  const double half = interval ? (interval->high - interval->low) / 2 : 0;
  return fmt::format("{:.{}f} ± {:.{}f}", experiment::mean(values), digits, half, digits);
}

namespace {

// What is compared is never negative, so it cannot fall by more than all of it.
std::optional<experiment::Relative> change_of(const std::vector<double>& values,
                                              const std::vector<double>& reference) {
  auto change = experiment::relative_difference(values, reference);
  if (change && change->interval) change->interval->low = std::max(-1.0, change->interval->low);
  return change;
}

}  // namespace

std::string percent_text(const std::vector<double>& tuned, const std::vector<double>& reference) {
  const auto change = change_of(tuned, reference);
  if (!change || !change->interval) return "-";
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", 100 * change->share,
                     100 * change->interval->low, 100 * change->interval->high);
}

nlohmann::ordered_json mean_json(std::span<const double> values) {
  const auto interval = experiment::t_interval(values);
  nlohmann::ordered_json json{{"mean", experiment::mean(values)}};
  if (interval) json["low"] = interval->low;
  if (interval) json["high"] = interval->high;
  return json;
}

nlohmann::ordered_json judged_json(const Judged& judged) {
  return {{"scheduler", judged.scheduler},
          {"repartition", judged.repartition},
          {"et", mean_json(judged.et)},
          {"energy_kwh", mean_json(judged.energy_kwh)},
          {"mean_tardiness_min", mean_json(judged.tardiness_min)},
          {"late_percent", mean_json(judged.late_percent)}};
}

nlohmann::ordered_json percent_json(const std::vector<double>& values,
                                    const std::vector<double>& reference) {
  const auto change = change_of(values, reference);
  if (!change || !change->interval) return nullptr;
  return {{"mean", 100 * change->share},
          {"low", 100 * change->interval->low},
          {"high", 100 * change->interval->high}};
}

}  // namespace partita::cli
