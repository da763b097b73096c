#include "experiment/results/gaps.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

RunRecord day(const std::string& policy, std::uint64_t seed, double energy, double tardiness,
              double et) {
  RunRecord record = specimen_record();
  record.setting = "s";
  record.policy = policy;
  record.seed = seed;
  record.energy_j = energy;
  record.mean_tardiness_s = tardiness;
  record.et = et;
  return record;
}

const std::vector<RunRecord> kBounds{day("bound", 1, 100, 0, 1), day("bound", 2, 300, 0, 3)};

TEST(Gaps, AreOfMeansOverTheDays) {
  const std::vector<RunRecord> runs{day("b", 1, 150, 1, 2), day("b", 2, 350, 1, 4),
                                    day("a", 1, 100, 0, 1), day("a", 2, 300, 0, 3),
                                    day("a", 3, 900, 0, 9)};  // a day without a bound
  const auto found = gaps_of("s", runs, kBounds);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->days, 2u);
  EXPECT_DOUBLE_EQ(found->bound[Measure::kEnergy].mean, 200);
  ASSERT_EQ(found->gaps.size(), 2u);
  EXPECT_EQ(found->gaps[0].policy, "a");
  EXPECT_DOUBLE_EQ(found->gaps[0].over[Measure::kEt]->share, 0);
  EXPECT_DOUBLE_EQ(found->gaps[1].over[Measure::kEnergy]->share, 0.25);
  EXPECT_DOUBLE_EQ(found->gaps[1].over[Measure::kEt]->share, 0.5);
  EXPECT_FALSE(found->gaps[1].over[Measure::kTardiness].has_value());  // the bound is 0
  EXPECT_FALSE(gaps_of("other", runs, kBounds).has_value());
}

TEST(Gaps, ARunBelowItsBoundIsAnError) {
  std::vector<RunRecord> runs{day("a", 1, 100, 0, 1), day("a", 2, 300 - 1e-8, 0, 3)};
  EXPECT_TRUE(check_bounds(runs, kBounds).ok());
  runs.push_back(day("a", 7, 1, 0, 0));  // has none
  EXPECT_TRUE(check_bounds(runs, kBounds).ok());
  runs.push_back(day("b", 2, 300, 0, 2.9999));
  const Status status = check_bounds(runs, kBounds);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "s, b, day 2: et is 2.9999, and its lower bound is 3; one of them is wrong: please "
            "report it");
}

}  // namespace
}  // namespace partita::experiment
