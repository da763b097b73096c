#include "experiment/statistics/sign_flips.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"

namespace partita::experiment {
namespace {

constexpr std::size_t kGroup = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Sums that differ by less are equal but for rounding.
constexpr double kSame = 1e-12;

// Of all 256 parts of a group of days.
using PartSums = std::array<double, 256>;

PartSums part_sums(std::span<const double> group) {
  PartSums sums{};
  for (std::size_t part = 1; part < sums.size(); ++part) {
    const auto first = static_cast<std::size_t>(std::countr_zero(part));
    sums[part] = sums[part & (part - 1)] + (first < group.size() ? group[first] : 0);
  }
  return sums;
}

// Sums of differences, with what is zero but for rounding made so.
class Differences {
 public:
  explicit Differences(std::span<const double> values) {
    for (const double value : values) {
      size_ += std::abs(value);
      sum_ += value;
    }
  }
  double sum() const { return exact(sum_); }
  double exact(double sum) const { return std::abs(sum) <= kSame * size_ ? 0 : sum; }

 private:
  double size_ = 0;
  double sum_ = 0;
};

// A difference as a share of what it is a difference to. Both zero: the part says nothing.
std::optional<double> share_of(double difference, double reference) {
  if (reference > 0) return difference / reference;
  return difference == 0 ? std::nullopt : std::optional(kInfinity);
}

// How many splits must enclose a value for its p to be above `level`, the one split that is none
// counted; 0: there are too few splits to leave anything out.
std::size_t enclosing_min(std::size_t splits, double level) {
  return static_cast<std::size_t>(level * static_cast<double>(splits + 1) * (1 + kSame));
}

}  // namespace

SignFlips::SignFlips(std::size_t days, std::uint64_t seed, std::uint32_t splits)
    : days_(days), groups_((days + kGroup - 1) / kGroup) {
  CHECK(days >= 1);
  const bool exact = days <= kExactFlipDaysMax;
  // The last day is never in the part: a part and the rest are one split, not two.
  const std::size_t count = exact ? (std::size_t{1} << (days - 1)) - 1 : splits;
  splits_.resize(count * groups_);
  sizes_.resize(count);
  Rng rng(seed);
  std::uint64_t bits = 0;
  for (std::size_t split = 0; split < count; ++split) {
    for (std::size_t group = 0; group < groups_; ++group) {
      if (exact) {
        bits = (split + 1) >> (kGroup * group);
      } else {
        bits = group % kGroup == 0 ? rng.next() : bits >> kGroup;
      }
      const std::size_t in_group = std::min(kGroup, days - kGroup * group);
      const auto part = static_cast<std::uint8_t>(bits & ((1U << in_group) - 1));
      splits_[split * groups_ + group] = part;
      sizes_[split] += std::popcount(part);
    }
  }
}

std::vector<SignFlips::Sums> SignFlips::sums_of(std::span<const double> values) const {
  CHECK(values.size() == days_);
  std::vector<PartSums> tables;
  for (std::size_t group = 0; group < groups_; ++group) {
    const std::size_t begin = kGroup * group;
    tables.push_back(part_sums(values.subspan(begin, std::min(kGroup, days_ - begin))));
  }
  std::vector<Sums> sums(sizes_.size());
  for (std::size_t split = 0; split < sums.size(); ++split) {
    const std::uint8_t* row = splits_.data() + split * groups_;
    for (std::size_t group = 0; group < groups_; ++group) {
      sums[split].part += tables[group][row[group]];
      sums[split].rest += tables[group][static_cast<std::uint8_t>(~row[group])];
    }
  }
  return sums;
}

FlipTest SignFlips::test(std::vector<double> lows, std::vector<double> highs, double level) const {
  const std::size_t count = lows.size();
  std::size_t enclosing = 0;
  for (std::size_t i = 0; i < count; ++i) enclosing += lows[i] <= 0 && 0 <= highs[i] ? 1 : 0;
  FlipTest test;
  test.p = static_cast<double>(enclosing + 1) / static_cast<double>(count + 1);
  const std::size_t wanted = enclosing_min(count, level);
  if (wanted == 0) return test;
  const auto at = static_cast<std::ptrdiff_t>(wanted - 1);
  std::ranges::nth_element(lows, lows.begin() + at);
  std::ranges::nth_element(highs, highs.begin() + at, std::greater{});
  test.interval = Interval{lows[wanted - 1], highs[wanted - 1]};
  return test;
}

FlipTest SignFlips::ratio(std::span<const double> policy, std::span<const double> reference,
                          double level) const {
  const auto none_negative = [](std::span<const double> values) {
    return std::ranges::all_of(values, [](double value) { return value >= 0; });
  };
  CHECK(none_negative(policy));
  CHECK(none_negative(reference));
  const std::vector<double> values = paired_differences(policy, reference);
  const Differences differences(values);
  const std::vector<Sums> above = sums_of(values);
  const std::vector<Sums> below = sums_of(reference);
  const double total = std::accumulate(reference.begin(), reference.end(), 0.0);
  CHECK(total > 0);
  // Rounding must not put a split beside what it encloses.
  const double all = differences.sum() / total;
  std::vector<double> lows(above.size(), -1);
  std::vector<double> highs(above.size(), kInfinity);
  for (std::size_t i = 0; i < above.size(); ++i) {
    const auto part = share_of(differences.exact(above[i].part), below[i].part);
    const auto rest = share_of(differences.exact(above[i].rest), below[i].rest);
    if (!part || !rest) continue;
    lows[i] = std::min({*part, *rest, all});
    highs[i] = std::max({*part, *rest, all});
  }
  return test(std::move(lows), std::move(highs), level);
}

FlipTest SignFlips::mean(std::span<const double> values, double level) const {
  const Differences differences(values);
  const double days = static_cast<double>(days_);
  const double all = differences.sum() / days;
  const std::vector<Sums> sums = sums_of(values);
  std::vector<double> lows(sums.size(), -kInfinity);
  std::vector<double> highs(sums.size(), kInfinity);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sizes_[i] == 0 || sizes_[i] == days) continue;
    const double part = differences.exact(sums[i].part) / sizes_[i];
    const double rest = differences.exact(sums[i].rest) / (days - sizes_[i]);
    lows[i] = std::min({part, rest, all});
    highs[i] = std::max({part, rest, all});
  }
  return test(std::move(lows), std::move(highs), level);
}

std::uint64_t flip_days_min(double level) {
  CHECK(level > 0);
  std::size_t days = 1;
  while (days <= kExactFlipDaysMax &&
         enclosing_min((std::size_t{1} << (days - 1)) - 1, level) == 0) {
    ++days;
  }
  return days;
}

}  // namespace partita::experiment
