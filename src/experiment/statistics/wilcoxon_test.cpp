#include "experiment/statistics/wilcoxon.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/rng.h"

namespace partita::experiment {
namespace {

// Differences of sizes 1 .. n whose negative ones have the rank sum `sum`.
std::vector<double> with_negative_ranks(int n, int sum) {
  std::vector<double> differences;
  for (int rank = n; rank >= 1; --rank) {
    const bool negative = rank <= sum;
    if (negative) sum -= rank;
    differences.push_back(negative ? -rank : rank);
  }
  return differences;
}

double p_of(int n, int sum) {
  return wilcoxon_signed_rank(with_negative_ranks(n, sum)).p;
}

struct Critical {
  int n;
  int five_percent;
  int one_percent;  // -1: no sum is that rare
};

// The table of critical values (two-sided) as textbooks print it: the largest smaller rank sum that
// is still significant.
constexpr std::array<Critical, 20> kTable{{{6, 0, -1},   {7, 2, -1},   {8, 3, 0},    {9, 5, 1},
                                           {10, 8, 3},   {11, 10, 5},  {12, 13, 7},  {13, 17, 9},
                                           {14, 21, 12}, {15, 25, 15}, {16, 29, 19}, {17, 34, 23},
                                           {18, 40, 27}, {19, 46, 32}, {20, 52, 37}, {21, 58, 42},
                                           {22, 65, 48}, {23, 73, 54}, {24, 81, 61}, {25, 89, 68}}};

TEST(Wilcoxon, CriticalValuesAreThoseOfTheTable) {
  for (const Critical& row : kTable) {
    EXPECT_LE(p_of(row.n, row.five_percent), 0.05) << row.n;
    EXPECT_GT(p_of(row.n, row.five_percent + 1), 0.05) << row.n;
    if (row.one_percent >= 0) {
      EXPECT_LE(p_of(row.n, row.one_percent), 0.01) << row.n;
    }
    EXPECT_GT(p_of(row.n, row.one_percent + 1), 0.01) << row.n;
  }
}

// Hollander and Wolfe (1973), depression before and after a tranquillizer, nine patients: V = 40
// and the exact two-sided p is 20/512.
TEST(Wilcoxon, TheDepressionExampleHasItsPublishedPValue) {
  const std::vector<double> before{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const std::vector<double> after{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(before[i] - after[i]);
  const Wilcoxon test = wilcoxon_signed_rank(differences);
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.rank_sum_positive, 40);
  EXPECT_DOUBLE_EQ(test.p, 0.0390625);
}

// Student's sleep data has a zero and ties; R's wilcox.test gives V = 0, p = 0.009091.
TEST(Wilcoxon, ZerosAreDroppedAndTiesShareTheirRank) {
  const std::vector<double> sleep{-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4};
  const Wilcoxon test = wilcoxon_signed_rank(sleep);
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(test.differences, 9);
  EXPECT_EQ(test.rank_sum_positive, 0);
  EXPECT_NEAR(test.p, 0.009091, 1e-6);
}

TEST(Wilcoxon, SwappingThePoliciesGivesTheSameP) {
  const std::vector<double> differences{1.5, -2, 3, 4.5, -0.5, 6};
  std::vector<double> swapped;
  for (const double d : differences) swapped.push_back(-d);
  EXPECT_EQ(wilcoxon_signed_rank(differences).p, wilcoxon_signed_rank(swapped).p);
}

TEST(Wilcoxon, DaysWithoutAnyDifferenceDecideNothing) {
  EXPECT_EQ(wilcoxon_signed_rank(std::vector<double>(12, 0.0)).p, 1);
  EXPECT_EQ(wilcoxon_signed_rank({}).p, 1);
  EXPECT_EQ(wilcoxon_signed_rank(std::vector<double>{4.0}).p, 1);
}

TEST(Wilcoxon, TheApproximationContinuesTheExactDistribution) {
  std::vector<double> differences = with_negative_ranks(25, 100);
  const double exact = wilcoxon_signed_rank(differences).p;
  differences.push_back(0);  // forces the approximation and says nothing
  const Wilcoxon approximate = wilcoxon_signed_rank(differences);
  EXPECT_FALSE(approximate.exact);
  EXPECT_NEAR(approximate.p, exact, 0.002);
}

TEST(Wilcoxon, FindsADifferenceThatIsNotThereFiveTimesInAHundred) {
  constexpr int kDays = 200'000;  // in all trials of a length together
  Rng rng(31);
  for (const int days : {12, 25, 30, 200}) {
    const int trials = kDays / days;
    int found = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> differences;
      for (int day = 0; day < days; ++day) {
        differences.push_back(rng.lognormal(0, 1) - rng.lognormal(0, 1));
      }
      found += wilcoxon_signed_rank(differences).p <= 0.05;
    }
    const double share = found / static_cast<double>(trials);
    EXPECT_LE(share, 0.06) << days;
    EXPECT_GE(share, 0.04) << days;
  }
}

}  // namespace
}  // namespace partita::experiment
