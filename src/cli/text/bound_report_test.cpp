#include "cli/text/bound_report.h"

#include <gtest/gtest.h>

namespace partita::cli {
namespace {

RunBounds bounds(double energy_j, double tardiness_s, double et) {
  RunBounds bounds;
  bounds.energy_j = energy_j;
  bounds.mean_tardiness_s = tardiness_s;
  bounds.et = et;
  return bounds;
}

TEST(BoundReport, AResultBelowABoundIsAnErrorThatNamesBoth) {
  sim::RunResult result;
  result.energy_j = 100;
  result.mean_tardiness_s = 2;
  result.et = 1;
  EXPECT_TRUE(check_bounds(bounds(100, 2, 1), result, "mdd").ok());
  EXPECT_TRUE(check_bounds(bounds(100 + 1e-9, 2, 1), result, "mdd").ok());  // rounding
  EXPECT_FALSE(check_bounds(bounds(100.01, 2, 1), result, "mdd").ok());
  EXPECT_FALSE(check_bounds(bounds(100, 2, 1.001), result, "mdd").ok());
  EXPECT_EQ(check_bounds(bounds(100, 2.5, 1), result, "mdd").error().message,
            "mdd: mean_tardiness_s is 2, and its lower bound is 2.5; one of them is wrong: please "
            "report it");
}

}  // namespace
}  // namespace partita::cli
