// Judged policies for people and as JSON: means with their intervals, and changes in percent.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "experiment/judging.h"

namespace partita::cli {

// "1.234 ± 0.012": the mean and its 95 % interval.
std::string with_interval(std::span<const double> values, int digits);
// "-18.2 % (-19.0 to -17.4)"; only the share where there is no interval.
std::string percent_text(const experiment::Relative& change);
// The mean against that of the reference, day by day; "-" when there is no interval.
std::string percent_text(std::span<const double> values, std::span<const double> reference);

// {"mean", "low", "high"}; only the mean for fewer than two values.
nlohmann::ordered_json mean_json(std::span<const double> values);
nlohmann::ordered_json judged_json(const experiment::Judged& judged);
// {"mean", "low", "high"} in percent; only the mean where there is no interval, null for nothing.
nlohmann::ordered_json percent_json(const std::optional<experiment::Relative>& change);
// In percent of the reference; null when there is no interval.
nlohmann::ordered_json percent_json(std::span<const double> values,
                                    std::span<const double> reference);

}  // namespace partita::cli
