#include "experiment/statistics/holm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace partita::experiment {
namespace {

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12) << i;
}

// The usual example; R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives the same.
TEST(Holm, AdjustsTheTextbookExample) {
  expect_near(holm_adjusted(std::vector{0.01, 0.04, 0.03, 0.005}), {0.03, 0.06, 0.06, 0.02});
}

TEST(Holm, ASingleComparisonIsLeftAlone) {
  expect_near(holm_adjusted(std::vector{0.031}), {0.031});
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(Holm, NothingExceedsOneAndEqualValuesStayEqual) {
  expect_near(holm_adjusted(std::vector{0.9, 0.9, 0.2}), {1, 1, 0.6});
  expect_near(holm_adjusted(std::vector{0.01, 0.01}), {0.02, 0.02});
}

TEST(Holm, AnyFalseClaimAmongManyStaysRare) {
  constexpr int kTrials = 20'000;
  Rng rng(41);
  int false_claims = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> p_values(9);
    for (double& p : p_values) p = rng.uniform();
    false_claims += std::ranges::min(holm_adjusted(p_values)) <= 0.05;
  }
  EXPECT_LE(false_claims / static_cast<double>(kTrials), 0.055);
  EXPECT_GE(false_claims / static_cast<double>(kTrials), 0.04);
}

}  // namespace
}  // namespace partita::experiment
