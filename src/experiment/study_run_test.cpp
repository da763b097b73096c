#include "experiment/study_run.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

// Short days on one GPU; the second policy is worse on each of them.
Study small_study() {
  StudySetting setting;
  setting.name = "s";
  setting.days.test_days_max = 60;
  setting.days.make = [](std::uint64_t seed) -> Result<workload::Trace> {
    return minute_jobs(20 + static_cast<int>(seed % 7), 10);
  };
  setting.gpus = 1;
  setting.policies = {{"fine", "mdd", "static:1"}, {"whole", "mdd", "none"}};
  Study study;
  study.name = "small";
  study.settings = {setting};
  return study;
}

class StudyRunTest : public ::testing::Test {
 protected:
  StudyRunOptions options(std::uint64_t days) {
    StudyRunOptions options;
    options.days = days;
    options.runner.path = folder_.file("x.runs.jsonl");
    options.runner.definition = "x";
    options.runner.threads = 1;
    options.runner.cancel = &cancelled_;
    return options;
  }

  TemporaryFolder folder_;
  std::atomic<bool> cancelled_ = false;
};

TEST_F(StudyRunTest, RunsEveryPolicyOnEveryDayAndSummarisesEachSetting) {
  const auto run = run_study(small_study(), options(3));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->days, 3U);
  EXPECT_EQ(run->records.size(), 6U);
  ASSERT_EQ(run->summaries.size(), 1U);
  EXPECT_EQ(run->summaries[0].reference, "fine");
  EXPECT_TRUE(run->bounds.empty());
  EXPECT_FALSE(run->cancelled);
}

TEST_F(StudyRunTest, GoesOnUntilEveryDifferenceIsDecidedOrTheDaysAreOver) {
  StudyRunOptions asked = options(2);
  asked.until_decided = true;
  const auto run = run_study(small_study(), asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_GT(run->days, 2U);
  EXPECT_EQ(run->records.size(), 2 * run->days);
  EXPECT_TRUE(run->days == 60 || run->summaries[0].all_decided(Measure::kEt));
}

TEST_F(StudyRunTest, BoundsOfTheSameDaysGoIntoAFileOfTheirOwn) {
  StudyRunOptions asked = options(2);
  asked.bounds_path = folder_.file("x.bounds.runs.jsonl");
  const auto run = run_study(small_study(), asked);
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_EQ(run->bounds.size(), 2U);
  EXPECT_EQ(run->bounds[0].policy, kBoundName);
  EXPECT_FALSE(text_of(*asked.bounds_path).empty());
}

TEST_F(StudyRunTest, ACancelledRunSaysSo) {
  cancelled_ = true;
  const auto run = run_study(small_study(), options(3));
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->cancelled);
  EXPECT_TRUE(run->records.empty());
}

}  // namespace
}  // namespace partita::experiment
