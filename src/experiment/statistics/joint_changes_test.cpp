#include "experiment/statistics/joint_changes.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "experiment/results/summary.h"
#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

std::vector<double> some_days(std::uint64_t seed, std::size_t count, double scale) {
  Rng rng(seed);
  std::vector<double> values(count);
  for (double& value : values) value = scale * rng.uniform(0.5, 1.5);
  return values;
}

TEST(JointChanges, AreThoseOfASummaryOfTheSameRuns) {
  for (const std::size_t days : {12U, 40U}) {
    const std::vector<std::vector<double>> series{some_days(1, days, 2), some_days(2, days, 3),
                                                  some_days(3, days, 4)};
    std::vector<RunRecord> records;
    for (std::size_t policy = 0; policy < series.size(); ++policy) {
      for (std::size_t day = 0; day < days; ++day) {
        RunRecord record;
        record.policy = std::string(1, static_cast<char>('a' + policy));
        record.seed = day;
        record.et = series[policy][day];
        records.push_back(record);
      }
    }
    SummaryOptions options;
    options.reference = "c";
    const auto summary = summarise(records, options);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    const auto& difference = (*summary->policies[1].differences)[Measure::kEt];
    const auto change = JointChanges(days, 2).of(series[0], series[2]);
    ASSERT_TRUE(change && change->interval);
    EXPECT_EQ(change->share, difference.relative->share);
    EXPECT_EQ(change->interval, difference.decision.interval);
  }
}

TEST(JointChanges, MoreComparisonsMakeWiderIntervals) {
  const auto policy = some_days(1, 20, 2);
  const auto reference = some_days(2, 20, 3);
  const JointChanges one(20, 1);
  const JointChanges five(20, 5);
  EXPECT_DOUBLE_EQ(one.confidence_each(), 0.95);
  EXPECT_DOUBLE_EQ(five.confidence_each(), 0.99);
  const auto narrow = one.of(policy, reference);
  const auto wide = five.of(policy, reference);
  EXPECT_EQ(narrow->share, wide->share);
  EXPECT_LT(wide->interval->low, narrow->interval->low);
  EXPECT_GT(wide->interval->high, narrow->interval->high);
}

TEST(JointChanges, FewDaysHaveNoIntervalAndNothingHasNoShare) {
  const std::vector<double> few{1, 2, 3};
  const auto change = JointChanges(3, 3).of(few, few);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->share, 0);
  EXPECT_FALSE(change->interval);
  EXPECT_FALSE(JointChanges(3, 3).has_interval());
  EXPECT_FALSE(JointChanges(6, 3).has_interval());
  EXPECT_TRUE(JointChanges(7, 3).has_interval());
  EXPECT_FALSE(JointChanges(3, 3).of(few, std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace partita::experiment
