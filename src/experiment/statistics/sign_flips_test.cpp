#include "experiment/statistics/sign_flips.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace partita::experiment {
namespace {

using Series = std::vector<double>;

struct Pair {
  Series policy;
  Series reference;
};

// Heavy-tailed days, and a policy that costs about `share` of each.
Pair random_days(Rng& rng, std::size_t days, double share, double noise = 0.3) {
  Pair pair;
  for (std::size_t day = 0; day < days; ++day) {
    pair.reference.push_back(rng.lognormal(0, 1));
    pair.policy.push_back(share * pair.reference.back() * rng.lognormal(0, noise));
  }
  return pair;
}

// By the definition: the share of all 2^n ways to flip signs with a sum as far from zero.
double p_by_flipping(const Pair& pair, double ratio) {
  const std::size_t days = pair.policy.size();
  const auto sum_with = [&](std::size_t signs) {
    double sum = 0;
    for (std::size_t day = 0; day < days; ++day) {
      const double rest = pair.policy[day] - ratio * pair.reference[day];
      sum += (signs >> day & 1U) != 0 ? -rest : rest;
    }
    return std::abs(sum);
  };
  const double seen = sum_with(0);
  int as_far = 0;
  for (std::size_t signs = 0; signs < std::size_t{1} << days; ++signs) {
    as_far += sum_with(signs) >= seen * (1 - 1e-12) ? 1 : 0;
  }
  return as_far / std::exp2(static_cast<double>(days));
}

TEST(SignFlips, TheValueOfPIsTheShareOfFlipsThatAreAsFarFromZero) {
  Rng rng(31);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t days = 2 + rng.below(9);
    const Pair pair = random_days(rng, days, rng.uniform(0.6, 1.4));
    const SignFlips flips(days);
    EXPECT_NEAR(flips.ratio(pair.policy, pair.reference, 0.05).p, p_by_flipping(pair, 1), 1e-12);
    const Series differences = paired_differences(pair.policy, pair.reference);
    EXPECT_NEAR(flips.mean(differences, 0.05).p, p_by_flipping(pair, 1), 1e-12);
  }
}

TEST(SignFlips, TheIntervalHoldsTheRatiosThatTheTestDoesNotRefuse) {
  Rng rng(32);
  constexpr double kLevel = 0.05;
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t days = 6 + rng.below(4);
    const Pair pair = random_days(rng, days, rng.uniform(0.6, 1.4));
    const auto interval = SignFlips(days).ratio(pair.policy, pair.reference, kLevel).interval;
    ASSERT_TRUE(interval.has_value());
    for (const double share : {interval->low, interval->high}) {
      const double inward = share == interval->low ? 1e-6 : -1e-6;
      EXPECT_GT(p_by_flipping(pair, 1 + share + inward), kLevel);
      EXPECT_LE(p_by_flipping(pair, 1 + share - inward), kLevel);
    }
    EXPECT_TRUE(interval->contains(mean(pair.policy) / mean(pair.reference) - 1));
  }
}

TEST(SignFlips, WithTheFewestDaysTheIntervalIsTheRangeOfTheDays) {
  const Series reference{1, 2, 4, 1, 1, 5};
  const Series policy{1.1, 2.4, 5.2, 1.4, 1.5, 8};
  const auto interval = SignFlips(6).ratio(policy, reference, 0.05).interval;
  EXPECT_NEAR(interval->low, 0.1, 1e-12);
  EXPECT_NEAR(interval->high, 0.6, 1e-12);
}

TEST(SignFlips, TooFewDaysHaveNoIntervalWhateverTheySay) {
  const Series reference(5, 1.0);
  const Series policy(5, 100.0);
  EXPECT_FALSE(SignFlips(5).ratio(policy, reference, 0.05).interval.has_value());
  EXPECT_EQ(SignFlips(5).ratio(policy, reference, 0.05).p, 1.0 / 16);
  EXPECT_FALSE(SignFlips(1).mean(Series{5.0}, 0.05).interval.has_value());
  EXPECT_EQ(SignFlips(1).mean(Series{5.0}, 0.05).p, 1);
}

TEST(SignFlips, TheFewestDaysAreThoseWithWhichAnIntervalCanLeaveSomethingOut) {
  EXPECT_EQ(flip_days_min(0.05), 6U);
  EXPECT_EQ(flip_days_min(0.05 / 8), 9U);
  for (const double level : {0.2, 0.05, 0.05 / 3, 0.05 / 16, 0.05 / 100}) {
    const std::uint64_t fewest = flip_days_min(level);
    const Series up(fewest, 1.0);
    EXPECT_TRUE(SignFlips(fewest).mean(up, level).interval.has_value()) << level;
    const Series fewer(fewest - 1, 1.0);
    EXPECT_FALSE(SignFlips(fewest - 1).mean(fewer, level).interval.has_value()) << level;
  }
}

TEST(SignFlips, EqualDaysAreNoDifference) {
  const Series days{0.1, 0.2, 0.3, 0.7, 0.1, 0.9, 0.4};
  const FlipTest test = SignFlips(7).ratio(days, days, 0.05);
  EXPECT_EQ(test.p, 1);
  EXPECT_EQ(test.interval, (Interval{0, 0}));
  // The same sums, but for rounding, from other days.
  const Series some{0.1, 0.2, 0.0, 0.3, 0.3, 0.1, 0.2, 0.0};
  const Series other{0.3, 0.0, 0.2, 0.1, 0.1, 0.3, 0.0, 0.2};
  EXPECT_TRUE(SignFlips(8).ratio(some, other, 0.05).interval->contains(0));
  EXPECT_EQ(SignFlips(8).mean(paired_differences(some, other), 0.05).p,
            SignFlips(8).ratio(some, other, 0.05).p);
}

TEST(SignFlips, DaysThatCostTheReferenceNothingLeaveAnEndOpen) {
  const Series reference{0, 0, 0, 0, 0, 0, 0, 1};
  const Series policy{1, 1, 1, 1, 1, 1, 1, 2};
  const auto interval = SignFlips(8).ratio(policy, reference, 0.05).interval;
  EXPECT_GT(interval->low, 0);
  EXPECT_EQ(interval->high, std::numeric_limits<double>::infinity());
}

// A claim where there is nothing to claim is as rare as promised, with tails as heavy as one likes.
TEST(SignFlips, FalseClaimsAreAsRareAsTheLevelWhateverTheTails) {
  Rng rng(33);
  constexpr int kTrials = 4'000;
  for (const std::size_t days : {8U, 12U, 40U}) {
    const SignFlips flips(days, 1, 999);
    int claims = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Series differences;
      for (std::size_t day = 0; day < days; ++day) {
        differences.push_back(rng.lognormal(0, 2) * (rng.uniform() < 0.5 ? -1 : 1));
      }
      claims += flips.mean(differences, 0.05).p <= 0.05 ? 1 : 0;
    }
    // 0.05 and four standard errors of the count.
    EXPECT_LE(claims, 0.064 * kTrials) << days;
    EXPECT_GE(claims, 0.020 * kTrials) << days;  // and it is not asleep
  }
}

TEST(SignFlips, ManyOrdinaryDaysHaveTheIntervalOfStudentsT) {
  Rng rng(34);
  Series values;
  for (int day = 0; day < 200; ++day) values.push_back(0.3 + rng.normal());
  const auto interval = SignFlips(200).mean(values, 0.05).interval;
  const auto t = t_interval(values);
  const double half = (t->high - t->low) / 2;
  EXPECT_NEAR(interval->low, t->low, 0.05 * half);
  EXPECT_NEAR(interval->high, t->high, 0.05 * half);
}

TEST(SignFlips, DrawnSplitsAgreeWithAllOfThem) {
  Rng rng(35);
  const Pair pair = random_days(rng, 16, 0.8, 0.2);
  Pair longer = pair;  // a day of nothing changes no split, but is one too many to try them all
  longer.policy.push_back(0);
  longer.reference.push_back(0);
  const FlipTest all = SignFlips(16).ratio(pair.policy, pair.reference, 0.05);
  const FlipTest drawn = SignFlips(17).ratio(longer.policy, longer.reference, 0.05);
  EXPECT_NEAR(drawn.p, all.p, 0.01);
  EXPECT_NEAR(drawn.interval->low, all.interval->low, 0.02);
  EXPECT_NEAR(drawn.interval->high, all.interval->high, 0.02);
  EXPECT_EQ(SignFlips(17).ratio(longer.policy, longer.reference, 0.05).interval, drawn.interval);
}

}  // namespace
}  // namespace partita::experiment
