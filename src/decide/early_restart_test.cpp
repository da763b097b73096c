#include "decide/early_restart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace partita::decide {
namespace {

TEST(UpperProjection, CarriesALineOnExactly) {
  const std::vector<double> xs{1, 2, 3, 4};
  const std::vector<double> ys{3, 5, 7, 9};
  EXPECT_NEAR(upper_projection(xs, ys, 100, 2.33), 201, 1e-9);
}

// By hand: xs 1 2 3, ys 1 2 6: slope 2.5, mean 3, residuals 0.5 -1 0.5, variance 1.5 / 1; at 5 the
// line has 3 + 2.5 * 3 = 10.5 and the forecast variance 1.5 * (1 + 1/3 + 9/2) = 8.75.
TEST(UpperProjection, AddsStandardErrorsOfAForecast) {
  const std::vector<double> xs{1, 2, 3};
  const std::vector<double> ys{1, 2, 6};
  EXPECT_NEAR(upper_projection(xs, ys, 5, 0), 10.5, 1e-12);
  EXPECT_NEAR(upper_projection(xs, ys, 5, 2), 10.5 + 2 * std::sqrt(8.75), 1e-12);
}

// The margin is what it says: about 99 % of the values at the end lie below it, for normal errors
// and enough readings that the estimate of their spread is good.
TEST(UpperProjection, CoversTheValueAtTheEndAsOftenAsItSays) {
  Rng rng(7);
  int above = 0;
  constexpr int kRuns = 4'000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> xs;
    std::vector<double> ys;
    for (int i = 1; i <= 40; ++i) {
      xs.push_back(i);
      ys.push_back(2 + 0.1 * i + rng.normal());
    }
    const double end = 2 + 0.1 * 100 + rng.normal();
    above += end > upper_projection(xs, ys, 100, 2.33) ? 1 : 0;
  }
  EXPECT_GT(above, kRuns * 5 / 1000);
  EXPECT_LT(above, kRuns * 20 / 1000);
}

}  // namespace
}  // namespace partita::decide
