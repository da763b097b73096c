#include "experiment/statistics/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace partita::experiment {
namespace {

TEST(Distributions, NormalQuantilesAreThoseOfTheTable) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(normal_quantile(0.8), 0.8416212335729143, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.9599639845400545, 1e-12);
  EXPECT_NEAR(normal_quantile(0.995), 2.5758293035489004, 1e-12);
  EXPECT_NEAR(normal_quantile(0.025), -1.9599639845400545, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-10);
}

TEST(Distributions, NormalProbabilitiesAreThoseOfTheTable) {
  EXPECT_NEAR(normal_cdf(0), 0.5, 1e-15);
  EXPECT_NEAR(normal_cdf(1), 0.8413447460685429, 1e-14);
  EXPECT_NEAR(normal_cdf(-3), 0.0013498980316300933, 1e-16);
}

// The table of critical values that every textbook prints, with more decimals.
TEST(Distributions, StudentQuantilesAreThoseOfTheTable) {
  struct Row {
    double degrees, p95, p975, p995;
  };
  for (const Row& row :
       {Row{1, 6.313752, 12.706205, 63.656741}, Row{2, 2.919986, 4.302653, 9.924843},
        Row{5, 2.015048, 2.570582, 4.032143}, Row{10, 1.812461, 2.228139, 3.169273},
        Row{29, 1.699127, 2.045230, 2.756386}, Row{30, 1.697261, 2.042272, 2.749996},
        Row{100, 1.660234, 1.983972, 2.625891}}) {
    EXPECT_NEAR(student_t_quantile(0.95, row.degrees), row.p95, 1e-6) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.975, row.degrees), row.p975, 1e-6) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.995, row.degrees), row.p995, 1e-6) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.005, row.degrees), -row.p995, 1e-6) << row.degrees;
  }
}

TEST(Distributions, StudentWithOneDegreeIsTheCauchyDistribution) {
  for (const double x : {-50.0, -1.0, -0.1, 0.0, 0.3, 2.0, 1000.0}) {
    EXPECT_NEAR(student_t_cdf(x, 1), 0.5 + std::atan(x) / std::numbers::pi, 1e-14) << x;
  }
}

TEST(Distributions, StudentWithTwoDegreesHasItsClosedForm) {
  for (const double x : {-9.0, -1.0, 0.0, 0.5, 4.0, 80.0}) {
    EXPECT_NEAR(student_t_cdf(x, 2), 0.5 + x / (2 * std::sqrt(2 + x * x)), 1e-14) << x;
  }
}

TEST(Distributions, StudentWithManyDegreesIsNearlyNormal) {
  EXPECT_NEAR(student_t_quantile(0.975, 1e6), 1.959966, 1e-6);
  EXPECT_NEAR(student_t_cdf(1.5, 1e7), normal_cdf(1.5), 1e-7);
}

TEST(Distributions, QuantileAndProbabilityAreInverse) {
  for (const double degrees : {1.0, 3.0, 24.0, 999.0}) {
    for (const double p : {0.001, 0.2, 0.5, 0.7, 0.9999}) {
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, degrees), degrees), p, 1e-12);
    }
  }
}

}  // namespace
}  // namespace partita::experiment
