#include "experiment/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"
#include "experiment/statistics/distributions.h"

namespace partita::experiment {
namespace {

double standard_error(std::span<const double> values) {
  return sample_sd(values) / std::sqrt(static_cast<double>(values.size()));
}

double t_factor(std::size_t count, double confidence) {
  CHECK(count >= 2);
  return student_t_quantile((1 + confidence) / 2, static_cast<double>(count - 1));
}

// Numbers below `limit`, two from each draw. Multiplying and shifting favours some numbers by less
// than limit / 2^32, far below what resampling can show, and costs a tenth of the exact way.
class IndexStream {
 public:
  IndexStream(std::uint64_t seed, std::uint32_t limit) : rng_(seed), limit_(limit) {}

  std::uint32_t next() {
    if (!half_left_) bits_ = rng_.next();
    const std::uint64_t half = half_left_ ? bits_ >> 32 : bits_ & 0xffffffff;
    half_left_ = !half_left_;
    return static_cast<std::uint32_t>((half * limit_) >> 32);
  }

 private:
  Rng rng_;
  std::uint64_t limit_;
  std::uint64_t bits_ = 0;
  bool half_left_ = false;
};

// All series with their means taken off, day after day, so that a drawn day is one stretch of
// memory and its squares lose no digits.
struct Centred {
  std::size_t days = 0;
  std::size_t count = 0;
  std::vector<double> rows;  // days x count
};

Centred centre(std::span<const std::vector<double>> series) {
  Centred centred{series.front().size(), series.size(), {}};
  centred.rows.resize(centred.days * centred.count);
  for (std::size_t s = 0; s < series.size(); ++s) {
    CHECK(series[s].size() == centred.days);
    const double middle = mean(series[s]);
    for (std::size_t day = 0; day < centred.days; ++day) {
      centred.rows[day * centred.count + s] = series[s][day] - middle;
    }
  }
  return centred;
}

// How far a resample's mean is from the mean it was drawn from, in its own standard errors.
double studentised(double sum, double squares, double days) {
  const double variance = (squares - sum * sum / days) / (days - 1);
  // What is left of equal values after rounding is no spread.
  if (variance > 1e-24 * squares) return sum / days / std::sqrt(variance / days);
  if (sum == 0) return 0;
  return std::copysign(std::numeric_limits<double>::infinity(), sum);
}

// [series][resample].
std::vector<std::vector<double>> studentised_resamples(const Centred& centred,
                                                       const Bootstrap& options) {
  std::vector<std::vector<double>> values(centred.count);
  for (std::vector<double>& one : values) one.reserve(options.resamples);
  IndexStream draws(options.seed, static_cast<std::uint32_t>(centred.days));
  std::vector<double> sums(centred.count);
  std::vector<double> squares(centred.count);
  for (std::uint32_t resample = 0; resample < options.resamples; ++resample) {
    std::ranges::fill(sums, 0);
    std::ranges::fill(squares, 0);
    for (std::size_t draw = 0; draw < centred.days; ++draw) {
      const double* row = centred.rows.data() + draws.next() * centred.count;
      for (std::size_t s = 0; s < centred.count; ++s) {
        sums[s] += row[s];
        squares[s] += row[s] * row[s];
      }
    }
    for (std::size_t s = 0; s < centred.count; ++s) {
      values[s].push_back(studentised(sums[s], squares[s], static_cast<double>(centred.days)));
    }
  }
  return values;
}

// The value that a share `probability` of the (shuffled afterwards) values lies below.
double quantile(std::vector<double>& values, double probability) {
  const double count = static_cast<double>(values.size());
  const double place = std::clamp(std::ceil((count + 1) * probability) - 1, 0.0, count - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(values, at);
  return *at;
}

Interval studentised_interval(std::span<const double> values, std::vector<double>& resampled,
                              double confidence) {
  const double low = quantile(resampled, (1 - confidence) / 2);
  const double high = quantile(resampled, (1 + confidence) / 2);
  if (!std::isfinite(low) || !std::isfinite(high)) return *t_interval(values, confidence);
  const double middle = mean(values);
  const double error = standard_error(values);
  return {middle - high * error, middle - low * error};
}

}  // namespace

double mean(std::span<const double> values) {
  CHECK(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_sd(std::span<const double> values) {
  CHECK(values.size() >= 2);
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> paired_differences(std::span<const double> policy,
                                       std::span<const double> reference) {
  CHECK(policy.size() == reference.size());
  std::vector<double> differences(policy.size());
  std::ranges::transform(policy, reference, differences.begin(), std::minus{});
  return differences;
}

std::optional<Interval> t_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2) return std::nullopt;
  const double middle = mean(values);
  const double reach = t_factor(values.size(), confidence) * standard_error(values);
  return Interval{middle - reach, middle + reach};
}

std::optional<Interval> bootstrap_interval(std::span<const double> values,
                                           const Bootstrap& options) {
  const std::vector<double> series(values.begin(), values.end());
  return bootstrap_intervals({&series, 1}, options).front();
}

std::vector<std::optional<Interval>> bootstrap_intervals(
    std::span<const std::vector<double>> series, const Bootstrap& options) {
  CHECK(options.resamples >= 1);
  std::vector<std::optional<Interval>> intervals(series.size());
  if (series.empty() || series.front().size() < 2) return intervals;
  std::vector<std::vector<double>> resampled = studentised_resamples(centre(series), options);
  for (std::size_t s = 0; s < series.size(); ++s) {
    intervals[s] = studentised_interval(series[s], resampled[s], options.confidence);
  }
  return intervals;
}

std::optional<Relative> relative_difference(std::span<const double> policy,
                                            std::span<const double> reference, double confidence) {
  CHECK(policy.size() == reference.size());
  const double below = mean(reference);
  if (!(below > 0)) return std::nullopt;
  const double ratio = mean(policy) / below;
  Relative relative{ratio - 1, std::nullopt};
  if (policy.size() < 2) return relative;
  // To first order the ratio moves by (y - ratio * x) / mean(x) for each day.
  std::vector<double> influence(policy.size());
  for (std::size_t day = 0; day < policy.size(); ++day) {
    influence[day] = (policy[day] - ratio * reference[day]) / below;
  }
  const double reach = t_factor(policy.size(), confidence) * standard_error(influence);
  relative.interval = Interval{relative.share - reach, relative.share + reach};
  return relative;
}

std::optional<std::uint64_t> days_until_decided(double mean_difference, double sd_difference,
                                                double alpha, double power) {
  CHECK(sd_difference >= 0);
  constexpr double kDaysMax = 1e15;  // beyond any use, within a whole number
  if (mean_difference == 0) return std::nullopt;
  const double outer = normal_quantile(1 - alpha / 2);
  const double effect = std::abs(mean_difference) / sd_difference;
  const double reach = (outer + normal_quantile(power)) / effect;
  const double days = sd_difference == 0 ? 2 : std::ceil(reach * reach + outer * outer / 2);
  if (!(days < kDaysMax)) return std::nullopt;
  return std::max<std::uint64_t>(2, static_cast<std::uint64_t>(days));
}

}  // namespace partita::experiment
