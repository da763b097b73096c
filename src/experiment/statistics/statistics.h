// Statistics: what a number of days says about a mean, a difference and a ratio, with intervals.
//
// A day is one value; two policies are compared on the same days, so that what the days have in
// common cancels. Intervals come in two kinds that fail differently: Student's t assumes the mean
// to be nearly normal, the bootstrap assumes the days seen to be typical of all days.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace partita::experiment {

inline constexpr double kConfidence = 0.95;
inline constexpr std::uint32_t kResamples = 10'000;

struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
  bool contains(double value) const { return low <= value && value <= high; }
};

// REQUIRES: not empty.
double mean(std::span<const double> values);
// With n - 1 below. REQUIRES: two values at least.
double sample_sd(std::span<const double> values);

// policy[i] - reference[i]. REQUIRES: equal lengths.
std::vector<double> paired_differences(std::span<const double> policy,
                                       std::span<const double> reference);

// Of the mean. Nothing for fewer than two values.
std::optional<Interval> t_interval(std::span<const double> values, double confidence = kConfidence);

struct Bootstrap {
  std::uint64_t seed = 1;  // same seed, same intervals
  std::uint32_t resamples = kResamples;
  double confidence = kConfidence;
};

// Of the mean, by the studentised bootstrap (bootstrap-t), which follows skewed data where the
// percentile interval is too short. Nothing for fewer than two values. Where the resamples have no
// spread to divide by (two or three days, or nearly all of them equal) it is the t interval.
std::optional<Interval> bootstrap_interval(std::span<const double> values,
                                           const Bootstrap& options = {});
// The same for many series over the same days, all from the same resampled days: the cost of
// drawing is paid once. REQUIRES: equal lengths.
std::vector<std::optional<Interval>> bootstrap_intervals(
    std::span<const std::vector<double>> series, const Bootstrap& options = {});

// How much more (or less) than the reference, as a share of it: 0.1 is ten percent more.
struct Relative {
  double share = 0;
  std::optional<Interval> interval;  // nothing for fewer than two days
};

// mean(policy) / mean(reference) - 1, its interval by the delta method with Student's t. Nothing
// unless the mean of the reference is positive. REQUIRES: equal lengths, not empty.
std::optional<Relative> relative_difference(std::span<const double> policy,
                                            std::span<const double> reference,
                                            double confidence = kConfidence);

// How many paired days a two-sided t test at level `alpha` needs to find a difference of this size
// with probability `power` (Guenther 1981: the normal formula and a term for the unknown variance).
// Two at least; nothing when there is no difference to find.
std::optional<std::uint64_t> days_until_decided(double mean_difference, double sd_difference,
                                                double alpha = 0.05, double power = 0.8);

}  // namespace partita::experiment
