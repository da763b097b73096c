#include "policies/learned/familiarity.h"

#include <gtest/gtest.h>

#include <array>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

nn::Model recorded(std::string preemption = "") {
  nn::Model model;
  model.seen = {{0, -1}, {1, 1}};
  if (!preemption.empty()) model.facts.more[kTrainedPreemption] = preemption;
  return model;
}

// Jobs of so many seconds, due at twice that.
workload::Job job_of(double seconds) {
  workload::Job job;
  job.time.fill(micros_from_seconds(seconds));
  job.deadline = micros_from_seconds(2 * seconds);
  return job;
}
void come(Familiarity& familiarity, double low, double high, int jobs) {
  for (int i = 0; i < jobs; ++i) {
    const double seconds = low + (high - low) * (i % 17) / 16;
    familiarity.job_arrived(decide::make_active(job_of(seconds), JobId{0}, 1));
  }
}

constexpr std::array<float, 2> kInside{0.5F, 0};
constexpr std::array<float, 2> kNear{1.2F, 0};  // a fifth of the width outside
constexpr std::array<float, 2> kFar{0.5F, 2};

TEST(Familiarity, AModelWithoutARecordIsTrusted) {
  const Fleet fleet(1, "1");
  const nn::Model model;
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  familiarity.look(kFar);
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
}

TEST(Familiarity, ItTakesAFewLooksAndNearIsNearEnough) {
  const Fleet fleet(1, "1");
  const nn::Model model = recorded();
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  for (std::uint32_t i = 0; i < Familiarity::kLooksMin; ++i) {
    EXPECT_EQ(familiarity.trust(), Trust::kUnknown);
    familiarity.look(i % 2 == 0 ? kInside : kNear);
  }
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
}

TEST(Familiarity, TrustIsLostWhenMuchIsFarOutsideAndComesBackLater) {
  const Fleet fleet(1, "1");
  const nn::Model model = recorded();
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  for (int i = 0; i < 100; ++i) familiarity.look(kInside);
  familiarity.look(kFar);
  EXPECT_EQ(familiarity.trust(), Trust::kYes) << "one look says nothing";
  for (int i = 0; i < 30; ++i) familiarity.look(kFar);
  EXPECT_EQ(familiarity.trust(), Trust::kNo);
  int looks = 0;
  for (; familiarity.trust() == Trust::kNo; ++looks) familiarity.look(kInside);
  EXPECT_GT(looks, 40) << "not before it is well below what lost the trust";
  EXPECT_LT(looks, 200);
}

TEST(Familiarity, JobsOfOtherLengthsAreStrangeUntilTheOldOnesComeAgain) {
  const Fleet fleet(1, "1");
  JobRecorder recorder;
  for (int i = 0; i < 1'000; ++i) recorder.add(job_of(60 + i % 600));
  nn::Model model = recorded();
  model.drawn = recorder.distributions();
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  for (int i = 0; i < 10; ++i) familiarity.look(kInside);
  come(familiarity, 60, 660, 9);
  EXPECT_EQ(familiarity.trust(), Trust::kUnknown) << "too few jobs to say";
  come(familiarity, 60, 660, 91);
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
  come(familiarity, 6'000, 66'000, 100);
  EXPECT_EQ(familiarity.trust(), Trust::kNo);
  come(familiarity, 60, 660, 400);
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
}

TEST(Familiarity, AQueueLongerThanInTrainingIsFamiliarWhileItsJobsAre) {
  const Fleet fleet(1, "1");
  JobRecorder recorder;
  for (int i = 0; i < 1'000; ++i) recorder.add(job_of(60 + i % 600));
  nn::Model model = recorded();
  model.drawn = recorder.distributions();
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  come(familiarity, 60, 660, 100);
  for (int i = 0; i < 200; ++i) familiarity.look(kFar);
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
  come(familiarity, 6'000, 66'000, 100);
  EXPECT_EQ(familiarity.trust(), Trust::kNo);
}

TEST(Familiarity, ItTakesMoreJobsToFindThemStrangeThanToKnowThem) {
  const Fleet fleet(1, "1");
  JobRecorder recorder;
  for (int i = 0; i < 1'000; ++i) recorder.add(job_of(60 + i % 600));
  nn::Model model = recorded();
  model.drawn = recorder.distributions();
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  for (int i = 0; i < 10; ++i) familiarity.look(kInside);
  come(familiarity, 6'000, 66'000, 29);
  EXPECT_EQ(familiarity.trust(), Trust::kUnknown);
  come(familiarity, 6'000, 66'000, 1);
  EXPECT_EQ(familiarity.trust(), Trust::kNo);
}

TEST(JobRecorder, NumbersThatAllJobsShareHaveAllOfThemAtOrBelow) {
  JobRecorder recorder;
  for (int i = 0; i < 100; ++i) recorder.add(job_of(1 + i));
  const nn::Distributions made = recorder.distributions();
  ASSERT_EQ(made.numbers(), kJobNumbers);
  EXPECT_NEAR(made.share[4], 0.5, 0.02) << "half of the jobs are shorter than the median";
  EXPECT_EQ(made.share[3 * nn::Distributions::kPoints], 1) << "no job has memory";
}

TEST(Familiarity, OtherRulesOfPreemptionAreStrangeWhateverIsSeen) {
  Fleet fleet(1, "1");
  const nn::Model model = recorded("cost");
  Familiarity familiarity(model);
  fleet.view.preemption.mode = decide::Preemption::Mode::kNone;
  familiarity.begin(fleet.view);
  for (int i = 0; i < 100; ++i) familiarity.look(kInside);
  EXPECT_EQ(familiarity.trust(), Trust::kNo);
  fleet.view.preemption.mode = decide::Preemption::Mode::kCost;
  familiarity.begin(fleet.view);
  for (int i = 0; i < 10; ++i) familiarity.look(kInside);
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
}

}  // namespace
}  // namespace partita::policies
