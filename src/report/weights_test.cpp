#include "report/weights.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace partita::report {
namespace {

double et(double a, const Outlay& outlay) {
  return (a * outlay.energy_w_min + outlay.tardiness_min) / (a + 1);
}

TEST(Weights, ThreePoliciesOnAFrontShareTheWeights) {
  const std::vector<Outlay> outlays{{10, 1}, {6, 2}, {5, 6}, {9, 5}};
  const auto ranges = best_weights(outlays);
  EXPECT_EQ(ranges[0]->from, 0);
  EXPECT_EQ(ranges[0]->to, 0.25);
  EXPECT_EQ(ranges[1]->from, 0.25);
  EXPECT_EQ(ranges[1]->to, 4);
  EXPECT_EQ(ranges[2]->from, 4);
  EXPECT_FALSE(ranges[2]->to.has_value());
  EXPECT_FALSE(ranges[3].has_value());
}

TEST(Weights, OfEqualPoliciesTheFirstIsNamed) {
  const std::vector<Outlay> outlays{{3, 3}, {3, 3}, {3, 4}};
  const auto ranges = best_weights(outlays);
  ASSERT_TRUE(ranges[0].has_value());
  EXPECT_FALSE(ranges[0]->to.has_value());
  EXPECT_FALSE(ranges[1] || ranges[2]);
  EXPECT_TRUE(best_weights({}).empty());
}

// Against trying every policy at many weights.
TEST(Weights, InsideARangeNobodyHasLessEt) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Outlay> outlays(1 + round % 9);
    for (Outlay& outlay : outlays) {
      outlay = {static_cast<double>(rng.below(20)), static_cast<double>(rng.below(20))};
    }
    const auto ranges = best_weights(outlays);
    for (double a = 1.0 / 128; a < 300; a *= 1.7) {
      double best = et(a, outlays.front());
      for (const Outlay& outlay : outlays) best = std::min(best, et(a, outlay));
      int covered = 0;
      for (std::size_t i = 0; i < outlays.size(); ++i) {
        if (!ranges[i] || a < ranges[i]->from || a > ranges[i]->to.value_or(a)) continue;
        ++covered;
        EXPECT_NEAR(et(a, outlays[i]), best, 1e-9);
      }
      EXPECT_GE(covered, 1);
    }
  }
}

}  // namespace
}  // namespace partita::report
