#include "base/rng.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partita {
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <typename Draw>
Moments moments_of(Draw draw) {
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

TEST(Rng, TheStreamOfASeedNeverChanges) {
  Rng rng(7);
  const std::uint64_t first = rng.next();
  const std::uint64_t second = rng.next();
  EXPECT_EQ(first, 0x0e2c1a002aae913dULL);
  EXPECT_NE(first, second);
  EXPECT_NE(Rng(7, 1).next(), Rng(7, 2).next());
}

TEST(Rng, DistributionsHaveTheirMoments) {
  Rng rng(42);
  const Moments uniform = moments_of([&] { return rng.uniform(2, 4); });
  EXPECT_NEAR(uniform.mean, 3, 0.01);
  EXPECT_NEAR(uniform.variance, 4.0 / 12, 0.01);
  const Moments exponential = moments_of([&] { return rng.exponential(3); });
  EXPECT_NEAR(exponential.mean, 3, 0.05);
  EXPECT_NEAR(exponential.variance, 9, 0.4);
  const Moments normal = moments_of([&] { return rng.normal(); });
  EXPECT_NEAR(normal.mean, 0, 0.01);
  EXPECT_NEAR(normal.variance, 1, 0.02);
  const Moments lognormal = moments_of([&] { return std::log(rng.lognormal(1, 0.5)); });
  EXPECT_NEAR(lognormal.mean, 1, 0.01);
  EXPECT_NEAR(lognormal.variance, 0.25, 0.01);
}

TEST(Rng, BelowReachesEveryValueEqually) {
  Rng rng(3);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[rng.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

}  // namespace
}  // namespace partita
