#include "experiment/statistics/sequential.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"

namespace partita::experiment {
namespace {

bool too_early(std::span<const double> differences, const SequentialRule& rule) {
  return differences.size() < std::max<std::uint64_t>(2, rule.days_min);
}

// r of the header.
double prior_factor(std::size_t days, const SequentialRule& rule) {
  CHECK(rule.effect_variance > 0);
  return 1 + static_cast<double>(days) * rule.effect_variance;
}

// The largest mean^2 / variance that is not decided after so many days: E = 1/alpha solved for
// x = t^2/(n-1), (1 + x) / (1 + x/r) = bracket. Nothing when these days exclude nothing.
std::optional<double> undecided_effect_squared(std::size_t count, const SequentialRule& rule) {
  const double days = static_cast<double>(count);
  const double r = prior_factor(count, rule);
  const double bracket = std::pow(r / (rule.alpha * rule.alpha), 1 / days);
  if (bracket >= r) return std::nullopt;
  const double x = (bracket - 1) / (1 - bracket / r);
  return x * (days - 1) / days;
}

double covariance(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size() - 1);
}

}  // namespace

double anytime_p(std::span<const double> differences, const SequentialRule& rule) {
  if (too_early(differences, rule)) return 1;
  const double days = static_cast<double>(differences.size());
  const double middle = mean(differences);
  if (middle == 0) return 1;
  const double sd = sample_sd(differences);
  const double r = prior_factor(differences.size(), rule);
  // t^2/(n-1); when the days do not differ at all it is infinite and the bracket tends to r.
  const double x = days * middle * middle / (sd * sd * (days - 1));
  const double log_bracket = std::isfinite(x) ? std::log1p(x) - std::log1p(x / r) : std::log(r);
  const double log_e = days / 2 * log_bracket - std::log(r) / 2;
  return std::min(1.0, std::exp(-log_e));
}

std::optional<Interval> anytime_interval(std::span<const double> differences,
                                         const SequentialRule& rule) {
  if (too_early(differences, rule)) return std::nullopt;
  const auto effect_squared = undecided_effect_squared(differences.size(), rule);
  if (!effect_squared) return std::nullopt;
  const double reach = std::sqrt(*effect_squared) * sample_sd(differences);
  const double middle = mean(differences);
  return Interval{middle - reach, middle + reach};
}

// Fieller's way, about the ratio seen, which loses no digits when it is nearly one: with
// e = y - seen * x, whose mean is zero, mean(e - step * x)^2 <= effect^2 * variance(e - step * x)
// is a quadratic in the step, a * step^2 + 2 b * step - c <= 0 with c >= 0.
std::optional<Interval> anytime_ratio_interval(std::span<const double> policy,
                                               std::span<const double> reference,
                                               const SequentialRule& rule) {
  if (too_early(policy, rule)) return std::nullopt;
  const auto effect_squared = undecided_effect_squared(policy.size(), rule);
  if (!effect_squared) return std::nullopt;
  const double x = mean(reference);
  CHECK(x > 0);
  const double share = mean(paired_differences(policy, reference)) / x;
  std::vector<double> rest(policy.size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest[i] = policy[i] - reference[i] - share * reference[i];
    // What is left of proportional days after rounding is no spread.
    if (std::abs(rest[i]) <= 1e-14 * (policy[i] + reference[i])) rest[i] = 0;
  }
  const double a = x * x - *effect_squared * covariance(reference, reference);
  const double b = *effect_squared * covariance(rest, reference);
  const double c = *effect_squared * covariance(rest, rest);
  const double root = std::sqrt(std::max(0.0, b * b + a * c));
  const auto from = [&](double step) { return std::max(-1.0, share + step); };
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  if (a > 0) return Interval{from((-b - root) / a), share + (root - b) / a};
  // The reference's mean could be zero: all ratios, or all but some on one side of the one seen.
  if (a == 0 || b * b + a * c <= 0) return Interval{-1, kOpen};
  const double step_low = (root - b) / a;
  const double step_high = (-b - root) / a;
  if (step_low > 0) return Interval{-1, share + step_low};
  return Interval{from(step_high), kOpen};
}

std::uint64_t anytime_days_min(const SequentialRule& rule) {
  std::uint64_t days = std::max<std::uint64_t>(2, rule.days_min);
  while (!undecided_effect_squared(days, rule)) ++days;
  return days;
}

}  // namespace partita::experiment
