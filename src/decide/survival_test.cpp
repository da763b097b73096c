#include "decide/survival.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "base/rng.h"

namespace partita::decide {
namespace {

struct Seen {
  double length;
  double told;
};

// The mean over those that ran longer, and what is believed.
double brute_force(std::vector<Seen> seen, double age, double believed) {
  if (seen.size() > Survival::kRemembered) {
    seen.erase(seen.begin(), seen.end() - std::ptrdiff_t{Survival::kRemembered});
  }
  double left = 0;
  double told = 0;
  double squares = 0;
  for (const Seen& job : seen) {
    if (job.length <= age) continue;
    left += job.told * (job.length - age);
    told += job.told;
    squares += job.told * job.told;
  }
  if (told == 0) return believed;
  const double jobs = told * told / squares;
  return (Survival::kBeliefWeight * believed + jobs * left / told) /
         (Survival::kBeliefWeight + jobs);
}

TEST(Survival, IsTheMeanOfWhatThoseThatRanLongerStillHadBeforeThem) {
  Rng rng(3);
  int asked = 0;
  for (int run = 0; run < 20; ++run) {
    Survival survival;
    std::vector<Seen> seen;
    const auto jobs = rng.below(3 * Survival::kRemembered);
    for (std::uint64_t i = 0; i < jobs; ++i) {
      // Some are equal, and some are just as long as the age asked about.
      const double length =
          rng.below(4) == 0 ? 0.25 * static_cast<double>(rng.below(8)) : std::exp(rng.normal());
      seen.push_back({length, std::exp(2 * rng.normal())});
      survival.ended(length, seen.back().told);
      if (rng.below(40) != 0) continue;
      const double age =
          rng.below(2) == 0 ? 0.25 * static_cast<double>(rng.below(12)) : rng.uniform(0, 4);
      const double wanted = brute_force(seen, age, 1.5);
      EXPECT_NEAR(survival.expected_left(age, 1.5), wanted, 1e-9 * (1 + wanted));
      ++asked;
    }
  }
  EXPECT_GT(asked, 100);
}

TEST(Survival, WithoutExperienceLeavesWhatIsBelieved) {
  const Survival survival;
  EXPECT_FALSE(survival.has_experience());
  EXPECT_EQ(survival.expected_left(0.3, 0.7), 0.7);
  EXPECT_EQ(survival.expected_left(3, 3), 3);
}

TEST(Survival, BeyondAllThatWasSeenLeavesWhatIsBelieved) {
  Survival survival;
  for (int i = 0; i < 100; ++i) survival.ended(2, 1);
  EXPECT_EQ(survival.expected_left(2, 2), 2);
  EXPECT_EQ(survival.expected_left(5, 3), 3);
}

TEST(Survival, HasNoExperienceWhileEstimatesAreRightAndForgetsOldMistakes) {
  Survival survival;
  Rng rng(5);
  for (int i = 0; i < 1'000; ++i) survival.ended(rng.uniform(0.995, 1.005), 1);
  EXPECT_FALSE(survival.has_experience());
  survival.ended(1.5, 1);
  EXPECT_TRUE(survival.has_experience());
  for (std::size_t i = 0; i + 1 < Survival::kRemembered; ++i) survival.ended(1, 1);
  EXPECT_TRUE(survival.has_experience());
  survival.ended(1, 1);
  EXPECT_FALSE(survival.has_experience());
}

TEST(Survival, RightEstimatesAreNotCorrected) {
  Survival survival;
  for (int i = 0; i < 300; ++i) survival.ended(1, 1 + i);
  for (const double age : {0.0, 0.25, 0.9}) {
    EXPECT_NEAR(survival.expected_left(age, 1 - age), 1 - age, 1e-12);
  }
}

// What a job of that age is expected to have left, on average over many memories full of jobs with
// such lengths.
double mean_left(const std::function<double(Rng&)>& length, double age, double believed) {
  constexpr int kMemories = 50;
  double sum = 0;
  for (int memory = 0; memory < kMemories; ++memory) {
    Rng rng(static_cast<std::uint64_t>(memory));
    Survival survival;
    for (std::size_t i = 0; i < Survival::kRemembered; ++i) survival.ended(length(rng), 1);
    sum += survival.expected_left(age, believed);
  }
  return sum / kMemories;
}

TEST(Survival, OfExponentialLengthsDoesNotDependOnAge) {
  const auto exponential = [](Rng& rng) { return rng.exponential(2); };
  for (const double age : {0.0, 1.0, 2.0, 4.0}) {
    EXPECT_NEAR(mean_left(exponential, age, 2), 2, 0.05) << age;
  }
}

// Of Pareto lengths with index a the mean that is left is age / (a - 1).
TEST(Survival, OfHeavyTailedLengthsGrowsWithAge) {
  const auto pareto = [](Rng& rng) { return std::pow(1 - rng.uniform(), -1 / 3.0); };
  double before = 0;
  for (const double age : {1.0, 1.5, 2.0, 3.0}) {
    const double left = mean_left(pareto, age, 0.75);
    EXPECT_GT(left, before);
    EXPECT_NEAR(left, age / 2, 0.1 * age) << age;
    before = left;
  }
}

TEST(Survival, OfBoundedLengthsFallsWithAge) {
  const auto uniform = [](Rng& rng) { return rng.uniform(0, 2); };
  double before = std::numeric_limits<double>::infinity();
  for (const double age : {0.0, 0.5, 1.0, 1.5}) {
    const double left = mean_left(uniform, age, 1);
    EXPECT_LT(left, before);
    EXPECT_NEAR(left, (2 - age) / 2, 0.05) << age;
    before = left;
  }
}

// Short jobs said to be too short and long ones said to be too long: all together were said right.
TEST(Survival, KeepsTheWorkOfAllTogether) {
  Survival survival;
  for (int i = 0; i < 250; ++i) {
    survival.ended(4, 1);
    survival.ended(0.25, 4);
  }
  EXPECT_NEAR(survival.expected_left(0, 1), 1, 1e-12);
}

TEST(Survival, OneLongJobDoesNotDecide) {
  Survival survival;
  survival.ended(10, 1);
  EXPECT_NEAR(survival.expected_left(1, 1), (4 * 1 + 9) / 5.0, 1e-12);
  for (int i = 0; i < 9; ++i) survival.ended(1.5, 1);
  survival.ended(10, 1e9);  // as uncertain as if it were the only one
  EXPECT_NEAR(survival.expected_left(1, 1), (4 * 1 + 9) / 5.0, 1e-6);
}

}  // namespace
}  // namespace partita::decide
