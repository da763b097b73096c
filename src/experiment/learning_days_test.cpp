#include "experiment/learning_days.h"

#include <gtest/gtest.h>

#include <set>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

// Every day has as many jobs as its seed says, so that a day shows which one it is.
DaySource numbered_days(std::uint64_t tune_days_max) {
  DaySource source;
  source.tune_days_max = tune_days_max;
  source.make = [](std::uint64_t seed) -> Result<workload::Trace> {
    return minute_jobs(static_cast<int>(seed % 1'000) + 1, 10);
  };
  return source;
}

TEST(LearningDays, OfATraceAtMostTheFirstHalfIsForValidationAndNoDayIsBoth) {
  const auto days = learning_days({numbered_days(6)}, 20);
  ASSERT_TRUE(days.ok());
  std::set<std::size_t> seen;
  for (const workload::Trace& day : days->validation) seen.insert(day.jobs.size());
  EXPECT_EQ(seen.size(), 3U);
  std::set<std::size_t> learned;
  for (std::uint64_t episode = 0; episode < 9; ++episode) {
    const std::size_t jobs = days->training(episode).jobs.size();
    EXPECT_FALSE(seen.contains(jobs)) << episode;
    learned.insert(jobs);
  }
  EXPECT_EQ(learned.size(), 3U);
}

TEST(LearningDays, AGeneratorHasDaysOfTheirOwnForTraining) {
  std::set<std::uint64_t> seeds;
  DaySource source;
  source.make = [&](std::uint64_t seed) -> Result<workload::Trace> {
    seeds.insert(seed);
    return minute_jobs(1, 1);
  };
  const auto days = learning_days({source}, 4);
  ASSERT_TRUE(days.ok());
  EXPECT_EQ(days->validation.size(), 4U);
  for (const std::uint64_t seed : seeds) EXPECT_EQ(role_of_seed(seed), Role::kTune);
  seeds.clear();
  days->training(7);
  EXPECT_EQ(seeds, std::set{day_seed(Role::kTrain, 7)});
}

TEST(LearningDays, AnEmptyDayIsPassedOver) {
  DaySource source;
  source.make = [](std::uint64_t seed) -> Result<workload::Trace> {
    return minute_jobs(seed % 2 == 0 ? 0 : 1, 1);
  };
  const auto days = learning_days({source}, 4);
  ASSERT_TRUE(days.ok());
  EXPECT_EQ(days->validation.size(), 2U);
  for (std::uint64_t episode = 0; episode < 4; ++episode) {
    EXPECT_EQ(days->training(episode).jobs.size(), 1U);
  }
}

TEST(LearningDays, TooFewWindowsAndDaysWithoutJobsAreErrors) {
  EXPECT_EQ(learning_days({numbered_days(1)}, 4).error().message,
            "the trace has too few windows to learn from; wanted three at least");
  DaySource empty;
  empty.make = [](std::uint64_t) -> Result<workload::Trace> { return workload::Trace{}; };
  EXPECT_EQ(learning_days({empty}, 4).error().message,
            "no jobs come on the validation days; training needs some");
}

}  // namespace
}  // namespace partita::experiment
