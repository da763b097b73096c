#include "experiment/statistics/distributions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"

namespace partita::experiment {
namespace {

double log_gamma(double x) {
  int sign = 0;  // std::lgamma would write it to a global, which threads share
  return ::lgamma_r(x, &sign);
}

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by Lentz's
// method. Converges quickly for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr int kTermsMax = 10'000;
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int term = 1; term <= kTermsMax; ++term) {
    const double m = term;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return value;
}

// The regularised incomplete beta function I_x(a, b), given x and 1 - x without loss.
double incomplete_beta(double x, double one_minus_x, double a, double b) {
  if (x <= 0) return 0;
  if (one_minus_x <= 0) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log(one_minus_x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(one_minus_x, b, a) / b;
}

// Where a rising function on the positive axis reaches `target`. Halving is slow and cannot fail;
// a report asks for a few dozen quantiles.
template <typename Rising>
double reached_at(double target, Rising function) {
  double high = 1;
  while (function(high) < target && high < 1e300) high *= 2;
  double low = 0;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (function(middle) < target ? low : high) = middle;
  }
}

// P(X > x) of Student's t for x >= 0, without the cancellation of 1 - cdf.
double student_t_tail(double x, double degrees) {
  const double square = x * x;
  const double total = degrees + square;
  if (std::isinf(total)) return 0;
  return incomplete_beta(degrees / total, square / total, degrees / 2, 0.5) / 2;
}

// Both distributions are symmetric, so a quantile is found in the upper half.
template <typename Tail>
double symmetric_quantile(double probability, Tail tail) {
  CHECK(probability > 0);
  CHECK(probability < 1);
  if (probability == 0.5) return 0;
  const double outside = probability < 0.5 ? probability : 1 - probability;
  const double x = reached_at(-outside, [&](double at) { return -tail(at); });
  return probability < 0.5 ? -x : x;
}

}  // namespace

double normal_cdf(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

double normal_quantile(double probability) {
  return symmetric_quantile(probability, [](double x) { return normal_cdf(-x); });
}

double student_t_cdf(double x, double degrees) {
  CHECK(degrees > 0);
  return x < 0 ? student_t_tail(-x, degrees) : 1 - student_t_tail(x, degrees);
}

double student_t_quantile(double probability, double degrees) {
  CHECK(degrees > 0);
  return symmetric_quantile(probability, [&](double x) { return student_t_tail(x, degrees); });
}

}  // namespace partita::experiment
