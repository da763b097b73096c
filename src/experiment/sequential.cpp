#include "experiment/sequential.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::experiment {
namespace {

bool too_early(std::span<const double> differences, const SequentialRule& rule) {
  return differences.size() < std::max<std::uint64_t>(2, rule.days_min);
}

// r of the header.
double prior_factor(std::span<const double> differences, const SequentialRule& rule) {
  CHECK(rule.effect_variance > 0);
  return 1 + static_cast<double>(differences.size()) * rule.effect_variance;
}

}  // namespace

double anytime_p(std::span<const double> differences, const SequentialRule& rule) {
  if (too_early(differences, rule)) return 1;
  const double days = static_cast<double>(differences.size());
  const double middle = mean(differences);
  if (middle == 0) return 1;
  const double sd = sample_sd(differences);
  const double r = prior_factor(differences, rule);
  // t^2/(n-1); when the days do not differ at all it is infinite and the bracket tends to r.
  const double x = days * middle * middle / (sd * sd * (days - 1));
  const double log_bracket = std::isfinite(x) ? std::log1p(x) - std::log1p(x / r) : std::log(r);
  const double log_e = days / 2 * log_bracket - std::log(r) / 2;
  return std::min(1.0, std::exp(-log_e));
}

std::optional<Interval> anytime_interval(std::span<const double> differences,
                                         const SequentialRule& rule) {
  if (too_early(differences, rule)) return std::nullopt;
  const double days = static_cast<double>(differences.size());
  const double r = prior_factor(differences, rule);
  // E = 1/alpha solved for x: (1 + x) / (1 + x/r) = bracket. Too few days exclude nothing.
  const double bracket = std::pow(r / (rule.alpha * rule.alpha), 1 / days);
  if (bracket >= r) return std::nullopt;
  const double x = (bracket - 1) / (1 - bracket / r);
  const double reach = std::sqrt(x * (days - 1) / days) * sample_sd(differences);
  const double middle = mean(differences);
  return Interval{middle - reach, middle + reach};
}

}  // namespace partita::experiment
