#include "cli/text/judged_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace partita::cli {

std::string with_interval(std::span<const double> values, int digits) {
  const auto interval = experiment::t_interval(values);
  const double half = interval ? (interval->high - interval->low) / 2 : 0;
  return fmt::format("{:.{}f} ± {:.{}f}", experiment::mean(values), digits, half, digits);
}

std::string percent_text(const experiment::Relative& change) {
  if (!change.interval) return fmt::format("{:+.1f} %", 100 * change.share);
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", 100 * change.share,
                     100 * change.interval->low, 100 * change.interval->high);
}

std::string percent_text(std::span<const double> values, std::span<const double> reference) {
  const auto change = experiment::relative_change(values, reference);
  return change && change->interval ? percent_text(*change) : "-";
}

nlohmann::ordered_json mean_json(std::span<const double> values) {
  const auto interval = experiment::t_interval(values);
  nlohmann::ordered_json json{{"mean", experiment::mean(values)}};
  if (interval) json["low"] = interval->low;
  if (interval) json["high"] = interval->high;
  return json;
}

nlohmann::ordered_json judged_json(const experiment::Judged& judged) {
  return {{"scheduler", judged.policy.scheduler},
          {"repartition", judged.policy.repartition},
          {"et", mean_json(judged.et)},
          {"energy_kwh", mean_json(judged.energy_kwh)},
          {"mean_tardiness_min", mean_json(judged.tardiness_min)},
          {"late_percent", mean_json(judged.late_percent)}};
}

nlohmann::ordered_json percent_json(const std::optional<experiment::Relative>& change) {
  if (!change) return nullptr;
  nlohmann::ordered_json json{{"mean", 100 * change->share}};
  if (change->interval) {
    json["low"] = 100 * change->interval->low;
    json["high"] = 100 * change->interval->high;
  }
  return json;
}

nlohmann::ordered_json percent_json(std::span<const double> values,
                                    std::span<const double> reference) {
  const auto change = experiment::relative_change(values, reference);
  return change && change->interval ? percent_json(change) : nullptr;
}

}  // namespace partita::cli
