// SignFlips: the test that decides a comparison on a number of days fixed beforehand, and the
// interval that belongs to it.
//
// If a policy costs `ratio` times what the reference costs, and chance goes as often one way as the
// other, then every day's y - ratio * x could as well have had the other sign. The p-value of a
// ratio is the share of all ways to flip signs whose sum is at least as far from zero as the sum
// seen (Fisher 1935, Pitman 1937). It is exact for any such differences, however heavy their tails,
// and it is about the sum, which is what is claimed, not about ranks.
//
// Flipping the days of a part A turns the sum A + B into B - A, which is at least as far from zero
// exactly when A and B have different signs: when `ratio` lies between sum(y) / sum(x) over A and
// the same over B. So every split of the days into two parts gives two ratios that enclose that of
// all days, p counts the splits that enclose the ratio in question, and the ratios with p > level
// are an interval: from the k-th smallest of the lower ends to the k-th largest of the upper ones
// (for means: Hartigan 1969). It leaves out 1 exactly when p of 1 is at most `level`, so that an
// interval and a verdict cannot contradict each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiment/statistics/statistics.h"

namespace partita::experiment {

// Up to so many days every split is looked at; beyond, as many as there are of so many days are
// drawn, which keeps the test exact and makes its p a multiple of 1/32768.
inline constexpr std::size_t kExactFlipDaysMax = 16;
inline constexpr std::uint32_t kSplits = (1U << (kExactFlipDaysMax - 1)) - 1;

struct FlipTest {
  double p = 1;  // two-sided, of no difference
  // What p > level cannot be told from. Nothing when there are too few days for `level`; an end is
  // infinite where days without any cost of the reference leave it open.
  std::optional<Interval> interval;
};

class SignFlips {
 public:
  // The same seed draws the same splits. `splits`: how many beyond kExactFlipDaysMax days.
  explicit SignFlips(std::size_t days, std::uint64_t seed = 1, std::uint32_t splits = kSplits);

  // Of sum(policy) / sum(reference) - 1. REQUIRES: `days` values each, none negative, and the sum
  // of the reference positive.
  FlipTest ratio(std::span<const double> policy, std::span<const double> reference,
                 double level) const;
  // Of the mean. REQUIRES: `days` values.
  FlipTest mean(std::span<const double> values, double level) const;

 private:
  struct Sums {
    double part = 0;
    double rest = 0;
  };
  // Over the days of every split, in order.
  std::vector<Sums> sums_of(std::span<const double> values) const;
  FlipTest test(std::vector<double> lows, std::vector<double> highs, double level) const;

  std::size_t days_;
  std::size_t groups_;                // of eight days
  std::vector<std::uint8_t> splits_;  // [split][group]: a bit for each day of the part
  std::vector<double> sizes_;         // [split]: days of the part
};

// With fewer days than these nothing can be decided at `level`, whatever the days say.
std::uint64_t flip_days_min(double level);

}  // namespace partita::experiment
