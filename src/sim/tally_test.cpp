#include "sim/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace partita::sim {
namespace {

RunResult summary(Tally& tally) {
  RunResult result;
  tally.summarise(result);
  return result;
}

TEST(Tally, OfNoJobsIsZero) {
  Tally tally;
  const RunResult result = summary(tally);
  EXPECT_EQ(result.jobs, 0U);
  EXPECT_EQ(result.mean_tardiness_s, 0);
  EXPECT_EQ(result.p99_tardiness_s, 0);
  EXPECT_EQ(result.late_share(), 0);
}

TEST(Tally, EarlyIsNotNegativeTardiness) {
  Tally tally;
  tally.add(Micros{0}, Micros::seconds(-100));
  tally.add(Micros::seconds(4), Micros::seconds(2));
  const RunResult result = summary(tally);
  EXPECT_EQ(result.jobs, 2U);
  EXPECT_EQ(result.late_jobs, 1U);
  EXPECT_DOUBLE_EQ(result.mean_tardiness_s, 1);
  EXPECT_DOUBLE_EQ(result.mean_wait_s, 2);
  EXPECT_DOUBLE_EQ(result.max_tardiness_s, 2);
}

TEST(Tally, QuantilesAreNearestRank) {
  Tally tally;
  for (int i = 20; i >= 1; --i) tally.add(Micros{0}, Micros::seconds(i));
  const RunResult result = summary(tally);
  EXPECT_DOUBLE_EQ(result.p50_tardiness_s, 10);  // rank 10 of 20
  EXPECT_DOUBLE_EQ(result.p95_tardiness_s, 19);  // rank 19
  EXPECT_DOUBLE_EQ(result.p99_tardiness_s, 20);  // rank 19.8, so 20
}

TEST(Tally, OneJobIsEveryQuantile) {
  Tally tally;
  tally.add(Micros{0}, Micros::seconds(3));
  const RunResult result = summary(tally);
  EXPECT_DOUBLE_EQ(result.p50_tardiness_s, 3);
  EXPECT_DOUBLE_EQ(result.p95_tardiness_s, 3);
  EXPECT_DOUBLE_EQ(result.p99_tardiness_s, 3);
}

TEST(Tally, QuantilesOfRandomTardinessAreThoseOfTheSortedList) {
  Rng rng(9);
  for (std::size_t count = 1; count < 220; ++count) {
    Tally tally;
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(static_cast<std::int64_t>(rng.below(1'000)));
      tally.add(Micros{0}, Micros{all.back()});
    }
    std::ranges::sort(all);
    const RunResult result = summary(tally);
    const auto ranked = [&](std::size_t percent) {
      return static_cast<double>(all[(percent * count + 99) / 100 - 1]) * 1e-6;
    };
    EXPECT_DOUBLE_EQ(result.p50_tardiness_s, ranked(50)) << count;
    EXPECT_DOUBLE_EQ(result.p95_tardiness_s, ranked(95)) << count;
    EXPECT_DOUBLE_EQ(result.p99_tardiness_s, ranked(99)) << count;
  }
}

TEST(EtScore, WeighsEnergyAgainstTardiness) {
  EXPECT_DOUBLE_EQ(et_score(2e-7, 2.5e6, 1.0), (0.5 + 1.0) / (1 + 2e-7));
  EXPECT_DOUBLE_EQ(et_score(0, 1e9, 3), 3);
}

}  // namespace
}  // namespace partita::sim
