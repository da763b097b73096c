#include "experiment/claims.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace partita::experiment
