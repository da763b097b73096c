#include "experiment/results/claims.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

// One setting, two policies, and days whose figures are given.
struct Example {
  Study study;
  std::vector<RunRecord> records;

  Example(std::vector<double> tardiness_min, double published) {
    study.name = "example";
    study.claims = {{"s", "t", Claim::Kind::kTardinessMin, "p", "", published, 0.02, ""}};
    for (const double minutes : tardiness_min) {
      RunRecord record;
      record.setting = "s";
      record.policy = "p";
      record.mean_tardiness_s = 60 * minutes;
      records.push_back(record);
    }
  }

  JudgedClaim judged() const { return judge_claims(study, records).front(); }
};

TEST(Claims, AClaimIsReproducedWhenItLiesInOurIntervalAndThatIsNarrow) {
  const std::vector<double> days{10.1, 9.9, 10.0, 10.2, 9.8};
  EXPECT_EQ(Example(days, 10.1).judged().verdict, ClaimVerdict::kReproduced);
  EXPECT_EQ(Example(days, 12).judged().verdict, ClaimVerdict::kNotReproduced);
  EXPECT_EQ(Example({1, 19, 5, 15}, 10).judged().verdict, ClaimVerdict::kTooFewDays);
  EXPECT_NEAR(Example(days, 10).judged().ours, 10, 1e-9);
}

TEST(Claims, RatiosAreOfTheOtherOverThePolicy) {
  RunRecord slow = specimen_record();
  slow.setting = "s";
  slow.policy = "slow";
  slow.makespan_s = 30;
  slow.energy_j = 500;
  RunRecord fast = slow;
  fast.policy = "fast";
  fast.makespan_s = 10;
  fast.energy_j = 250;
  Study study;
  study.claims = {{"s", "t", Claim::Kind::kThroughputRatio, "fast", "slow", 3.1, 0.05, ""},
                  {"s", "e", Claim::Kind::kEnergyRatio, "fast", "slow", 3, 0.05, ""},
                  {"s", "e", Claim::Kind::kEnergyRatio, "fast", "slow", 2, 0.05, "", false}};
  const std::vector<RunRecord> records{slow, fast};
  const auto judged = judge_claims(study, records);
  EXPECT_DOUBLE_EQ(judged[0].ours, 3);
  EXPECT_EQ(judged[0].verdict, ClaimVerdict::kReproduced);
  EXPECT_DOUBLE_EQ(judged[1].ours, 2);
  EXPECT_EQ(judged[1].verdict, ClaimVerdict::kNotReproduced);
  EXPECT_EQ(judged[2].verdict, ClaimVerdict::kNotComparable);
}

TEST(Claims, AboutBoundsAreJudgedWhereThereAreBounds) {
  RunRecord run = specimen_record();
  run.setting = "s";
  run.policy = "p";
  run.energy_j = 130;
  run.mean_tardiness_s = 9;
  RunRecord bound = run;
  bound.policy = std::string(kBoundName);
  bound.energy_j = 100;
  bound.energy_w_min = 2e6;
  bound.mean_tardiness_s = 6;
  Study study;
  study.claims = {{"s", "e", Claim::Kind::kEnergyOverBoundPercent, "p", "", 27, 2, ""},
                  {"s", "t", Claim::Kind::kTardinessOverBoundPercent, "p", "", 49, 2, ""},
                  {"s", "b", Claim::Kind::kEnergyMWMin, "bound", "", 1.99, 0.01, ""}};
  const std::vector<RunRecord> runs{run};
  const std::vector<RunRecord> bounds{bound};
  EXPECT_TRUE(judge_claims(study, runs).empty());
  const auto judged = judge_claims(study, runs, bounds);
  ASSERT_EQ(judged.size(), 3u);
  EXPECT_DOUBLE_EQ(judged[0].ours, 30);
  EXPECT_EQ(judged[0].verdict, ClaimVerdict::kNotReproduced);
  EXPECT_DOUBLE_EQ(judged[1].ours, 50);
  EXPECT_EQ(judged[1].verdict, ClaimVerdict::kReproduced);
  EXPECT_DOUBLE_EQ(judged[2].ours, 2);
  EXPECT_EQ(judged[2].verdict, ClaimVerdict::kReproduced);
}

}  // namespace
}  // namespace partita::experiment
