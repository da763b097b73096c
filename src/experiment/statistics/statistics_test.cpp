#include "experiment/statistics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/rng.h"

namespace partita::experiment {
namespace {

// Student's sleep data (1908): extra hours of sleep with two drugs, the same ten patients.
const std::vector<double> kDrug1{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
const std::vector<double> kDrug2{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

std::vector<double> drawn(int count, const std::function<double()>& draw) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(draw());
  return values;
}

TEST(Statistics, MeanAndDeviationAreThoseOfThePaper) {
  EXPECT_NEAR(mean(kDrug1), 0.75, 1e-15);
  EXPECT_NEAR(sample_sd(kDrug1), 1.789010, 1e-6);
  EXPECT_NEAR(mean(kDrug2), 2.33, 1e-15);
  EXPECT_NEAR(sample_sd(kDrug2), 2.002249, 1e-6);
}

TEST(Statistics, TheIntervalOfStudentsSleepDataIsTheKnownOne) {
  const std::vector<double> differences = paired_differences(kDrug1, kDrug2);
  EXPECT_NEAR(mean(differences), -1.58, 1e-12);
  const Interval interval = t_interval(differences).value();
  EXPECT_NEAR(interval.low, -2.4598858, 1e-6);
  EXPECT_NEAR(interval.high, -0.7001142, 1e-6);
}

TEST(Statistics, OneDayHasNoInterval) {
  const std::vector<double> one{3};
  EXPECT_FALSE(t_interval(one).has_value());
  EXPECT_FALSE(bootstrap_interval(one).has_value());
  EXPECT_FALSE(relative_difference(one, one)->interval.has_value());
  EXPECT_TRUE(bootstrap_intervals({}).empty());
}

TEST(Statistics, TheBootstrapDependsOnItsSeedAlone) {
  Rng rng(5);
  const std::vector<double> days = drawn(40, [&] { return rng.lognormal(0, 1); });
  const Interval first = bootstrap_interval(days, {.seed = 8}).value();
  EXPECT_EQ(first, bootstrap_interval(days, {.seed = 8}).value());
  const Interval other = bootstrap_interval(days, {.seed = 9}).value();
  EXPECT_NE(first, other);
  EXPECT_NEAR(first.low, other.low, 0.05);
  EXPECT_NEAR(first.high, other.high, 0.2);
}

TEST(Statistics, ManySeriesTogetherGiveTheIntervalsOfEachAlone) {
  Rng rng(6);
  std::vector<std::vector<double>> series;
  for (int s = 0; s < 4; ++s) series.push_back(drawn(25, [&] { return rng.exponential(2); }));
  const auto together = bootstrap_intervals(series, {.resamples = 500});
  for (std::size_t s = 0; s < series.size(); ++s) {
    EXPECT_EQ(together[s], bootstrap_interval(series[s], {.resamples = 500}));
  }
}

TEST(Statistics, OnNormalDaysBothIntervalsAgree) {
  Rng rng(7);
  const std::vector<double> days = drawn(200, [&] { return 100 + 5 * rng.normal(); });
  const Interval t = t_interval(days).value();
  const Interval bootstrap = bootstrap_interval(days).value();
  EXPECT_NEAR(t.low, bootstrap.low, 0.1);
  EXPECT_NEAR(t.high, bootstrap.high, 0.1);
}

TEST(Statistics, TheBootstrapLeansToTheLongTail) {
  Rng rng(8);
  const std::vector<double> days = drawn(60, [&] { return rng.lognormal(0, 1); });
  const Interval interval = bootstrap_interval(days).value();
  EXPECT_GT(interval.high - mean(days), mean(days) - interval.low);
}

TEST(Statistics, DaysWithoutSpreadStillHaveAFiniteInterval) {
  const std::vector<double> equal(30, 0.1);
  EXPECT_NEAR(bootstrap_interval(equal)->low, 0.1, 1e-12);
  EXPECT_NEAR(bootstrap_interval(equal)->high, 0.1, 1e-12);
  std::vector<double> nearly(30, 0.0);
  nearly[3] = 1;
  const Interval interval = bootstrap_interval(nearly).value();
  EXPECT_TRUE(std::isfinite(interval.low));
  EXPECT_TRUE(std::isfinite(interval.high));
  EXPECT_TRUE(std::isfinite(bootstrap_interval(std::vector<double>{1, 2})->high));
}

TEST(Statistics, RelativeDifferenceIsAShareOfTheReference) {
  const std::vector<double> reference{100, 110, 90, 105};
  std::vector<double> policy;
  for (const double value : reference) policy.push_back(0.8 * value);
  const Relative relative = relative_difference(policy, reference).value();
  EXPECT_NEAR(relative.share, -0.2, 1e-12);
  // A policy that saves the same share every day leaves nothing uncertain.
  EXPECT_NEAR(relative.interval->low, -0.2, 1e-12);
  EXPECT_NEAR(relative.interval->high, -0.2, 1e-12);
  EXPECT_FALSE(relative_difference(policy, std::vector<double>(4, 0.0)).has_value());
}

// Sample sizes for the paired t test (two-sided 5 %, power 80 %) as G*Power 3 and Cohen's tables
// give them for the effects 0.2, 0.3, 0.5, 0.8 and 1.
TEST(Statistics, DaysUntilDecidedAreThoseOfPublishedTables) {
  EXPECT_EQ(days_until_decided(0.2, 1), 199);
  EXPECT_EQ(days_until_decided(0.3, 1), 90);
  EXPECT_EQ(days_until_decided(0.5, 1), 34);
  EXPECT_EQ(days_until_decided(-0.8, 1), 15);
  EXPECT_EQ(days_until_decided(10, 10), 10);
}

TEST(Statistics, NoDifferenceIsNeverDecidedAndASureOneAtOnce) {
  EXPECT_FALSE(days_until_decided(0, 1).has_value());
  EXPECT_FALSE(days_until_decided(0, 0).has_value());
  EXPECT_FALSE(days_until_decided(1e-300, 1).has_value());
  EXPECT_EQ(days_until_decided(1, 0), 2);
  EXPECT_EQ(days_until_decided(1e9, 1), 2);
}

TEST(Statistics, TheDaysAskedForDecideFourTimesInFive) {
  constexpr int kTrials = 4000;
  Rng rng(11);
  const int days = static_cast<int>(days_until_decided(0.4, 1).value());
  int decided = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Interval interval = *t_interval(drawn(days, [&] { return 0.4 + rng.normal(); }));
    decided += !interval.contains(0);
  }
  EXPECT_NEAR(decided / static_cast<double>(kTrials), 0.8, 0.025);
}

// ---- coverage: how often the interval of simulated days contains the truth

struct Coverage {
  double t = 0;
  double bootstrap = 0;
};

Coverage coverage(int days, double truth, const std::function<double()>& draw) {
  constexpr int kTrials = 2000;  // one standard error is half a percent
  Coverage covered;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<double> values = drawn(days, draw);
    const Bootstrap options{.seed = static_cast<std::uint64_t>(trial), .resamples = 999};
    covered.t += t_interval(values)->contains(truth);
    covered.bootstrap += bootstrap_interval(values, options)->contains(truth);
  }
  return {covered.t / kTrials, covered.bootstrap / kTrials};
}

void expect_93_to_97_percent(double share) {
  EXPECT_GE(share, 0.93);
  EXPECT_LE(share, 0.97);
}

TEST(StatisticsCoverage, IsRightOnNormalDays) {
  Rng rng(21);
  for (const int days : {30, 200}) {
    const Coverage covered = coverage(days, 3, [&] { return 3 + 2 * rng.normal(); });
    expect_93_to_97_percent(covered.t);
    expect_93_to_97_percent(covered.bootstrap);
  }
}

// Log-normal with sigma 0.5 (skewness 1.75) is about what daily ET and tardiness look like.
TEST(StatisticsCoverage, IsRightOnSkewedDays) {
  Rng rng(22);
  for (const int days : {30, 200}) {
    const Coverage covered = coverage(days, std::exp(0.125), [&] { return rng.lognormal(0, 0.5); });
    expect_93_to_97_percent(covered.t);
    expect_93_to_97_percent(covered.bootstrap);
  }
}

// With sigma 1 (skewness 6.2) thirty days often contain none of the tail. The t interval then
// covers 87 % and the bootstrap 92 %; with 200 days they cover 93 and 94 %. This is what holds, not
// what one would wish, and why both intervals are reported.
TEST(StatisticsCoverage, OfVerySkewedDaysNeedsTheBootstrapAndManyDays) {
  Rng rng(23);
  const auto draw = [&] { return rng.lognormal(0, 1); };
  const Coverage few = coverage(30, std::exp(0.5), draw);
  EXPECT_GE(few.t, 0.86);
  EXPECT_LT(few.t, 0.90);
  EXPECT_GE(few.bootstrap, 0.91);
  const Coverage many = coverage(200, std::exp(0.5), draw);
  EXPECT_GE(many.t, 0.92);
  expect_93_to_97_percent(many.bootstrap);
}

TEST(StatisticsCoverage, OfARelativeDifferenceIsRight) {
  constexpr int kTrials = 4000;
  Rng rng(24);
  for (const int days : {30, 200}) {
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> reference;
      std::vector<double> policy;
      for (int day = 0; day < days; ++day) {
        reference.push_back(rng.lognormal(0, 0.5));
        policy.push_back(0.7 * reference.back() * rng.lognormal(0, 0.2));
      }
      const double truth = 0.7 * std::exp(0.02) - 1;
      covered += relative_difference(policy, reference)->interval->contains(truth);
    }
    expect_93_to_97_percent(covered / static_cast<double>(kTrials));
  }
}

}  // namespace
}  // namespace partita::experiment
