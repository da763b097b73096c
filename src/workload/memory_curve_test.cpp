#include "workload/memory_curve.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace partita::workload {
namespace {

TEST(MemoryCurve, GrowsToItsPeakAndStaysThere) {
  const MemoryCurve curve{.start_gib = 2, .peak_gib = 6, .peak_at = 0.5, .noise_gib = 0};
  EXPECT_EQ(curve.at(0), 2);
  EXPECT_EQ(curve.at(0.25), 4);
  EXPECT_EQ(curve.at(0.5), 6);
  EXPECT_EQ(curve.at(1), 6);
}

TEST(MemoryCurve, NeverExceedsACapacityOfItsPeak) {
  const MemoryCurve curve{.start_gib = 2, .peak_gib = 6, .peak_at = 1, .noise_gib = 0};
  EXPECT_FALSE(curve.exceeds(6).has_value());
  EXPECT_EQ(curve.exceeds(1), 0.0);
  EXPECT_EQ(curve.exceeds(4), 0.5);
}

TEST(MemoryCurve, IsAtTheCapacityWhereItSaysItExceedsIt) {
  Rng rng(3);
  for (int i = 0; i < 1'000; ++i) {
    MemoryCurve curve;
    curve.start_gib = rng.uniform(0, 10);
    curve.peak_gib = curve.start_gib + rng.uniform(0.1, 30);
    curve.peak_at = rng.uniform(0.05, 1);
    const double capacity = rng.uniform(curve.start_gib, curve.peak_gib);
    const auto done = curve.exceeds(capacity);
    ASSERT_TRUE(done.has_value());
    EXPECT_NEAR(curve.at(*done), capacity, 1e-9);
  }
}

}  // namespace
}  // namespace partita::workload
