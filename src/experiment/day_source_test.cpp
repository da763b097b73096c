#include "experiment/day_source.h"

#include <gtest/gtest.h>

#include <set>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

constexpr Micros kHour = Micros::seconds(3600);

// One job every ten minutes for `hours`, named by its number.
workload::Trace steady(int hours) {
  workload::Trace trace;
  trace.class_names = {"a"};
  for (int i = 0; i < 6 * hours; ++i) {
    workload::Job job;
    job.arrival = Micros::seconds(600 * i);
    job.deadline = job.arrival + Micros::seconds(900);
    job.time.fill(Micros::seconds(60 + i));
    trace.add(job, std::to_string(i));
  }
  return trace;
}

TEST(DaySource, TheSameSeedGivesTheSameDayAndAnotherGivesAnother) {
  for (const DaySource& source : {papers_days({}), poisson_days({}), realistic_days({})}) {
    const auto one = source.make(5);
    const auto same = source.make(5);
    const auto other = source.make(6);
    ASSERT_TRUE(one.ok() && same.ok() && other.ok());
    EXPECT_EQ(one->jobs, same->jobs);
    EXPECT_NE(one->jobs, other->jobs);
  }
}

TEST(DaySource, TheTextChangesWithTheOptions) {
  workload::PapersOptions papers;
  papers.mix.training_share = 0.3;
  EXPECT_NE(papers_days(papers).text, papers_days({}).text);
  workload::PoissonOptions poisson;
  poisson.rate_per_min = 1;
  EXPECT_NE(poisson_days(poisson).text, poisson_days({}).text);
  workload::RealisticOptions realistic;
  realistic.sigma = 1;
  EXPECT_NE(realistic_days(realistic).text, realistic_days({}).text);
}

TEST(TraceDays, CutIntoWindowsThatBeginAtZeroAndEveryJobIsInOneOfThem) {
  const workload::Trace trace = steady(7);
  const auto days = trace_days(trace, "x", {.length = kHour, .share = 1, .jobs_min = 1});
  ASSERT_TRUE(days.ok());
  ASSERT_EQ(days->test_days_max, 5U);
  ASSERT_EQ(days->tune_days_max, 2U);
  std::set<std::string> seen;
  const auto look_at = [&](std::uint64_t seed) {
    const auto one = days->make(seed);
    ASSERT_TRUE(one.ok());
    for (std::uint32_t i = 0; i < one->jobs.size(); ++i) {
      const std::string id(one->id(JobId{i}));
      EXPECT_TRUE(seen.insert(id).second);
      const workload::Job& whole = trace.jobs[std::stoul(id)];
      EXPECT_EQ(one->jobs[i].arrival.count, whole.arrival.count % kHour.count);
      EXPECT_EQ((one->jobs[i].deadline - one->jobs[i].arrival).count, 900'000'000);
      EXPECT_EQ(one->jobs[i].time, whole.time);
    }
  };
  for (std::uint64_t day = 0; day < 5; ++day) look_at(day_seed(Role::kTest, day));
  for (std::uint64_t day = 0; day < 2; ++day) look_at(day_seed(Role::kTune, day));
  EXPECT_EQ(seen.size(), trace.jobs.size());
}

TEST(TraceDays, AShareKeepsAboutThatManyAndAlwaysTheSame) {
  const workload::Trace trace = steady(400);
  const Windows windows{.length = Micros{400 * kHour.count}, .share = 0.25, .jobs_min = 1};
  const auto one = trace_days(trace, "x", windows)->make(day_seed(Role::kTest, 0));
  const auto same = trace_days(trace, "x", windows)->make(day_seed(Role::kTest, 0));
  ASSERT_TRUE(one.ok() && same.ok());
  EXPECT_EQ(one->jobs, same->jobs);
  EXPECT_NEAR(static_cast<double>(one->jobs.size()), 600, 100);
}

TEST(TraceDays, WindowsWithTooFewJobsArePassedOverAndNoneAtAllIsAnError) {
  workload::Trace trace = steady(2);
  workload::Job late = trace.jobs.back();
  late.arrival = Micros{9 * kHour.count};
  late.deadline = late.arrival;
  trace.add(late, "late");
  EXPECT_EQ(trace_days(trace, "x", {.length = kHour, .share = 1, .jobs_min = 2})->test_days_max,
            2U);
  const auto none = trace_days(trace, "x.csv", {.length = kHour, .share = 1, .jobs_min = 7});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message,
            "x.csv has 13 jobs, and no window of 1 hours with 7 or more of them: longer windows "
            "(--window), a larger share (--sample) or more jobs are needed");
}

TEST(MakeDays, GivesTheFirstDaysOfTheRoleAndNoMoreThanThereAre) {
  const auto source = trace_days(steady(9), "x", {.length = kHour, .share = 1, .jobs_min = 1});
  ASSERT_TRUE(source.ok());
  const auto tune = make_days(*source, Role::kTune, 20);
  const auto test = make_days(*source, Role::kTest, 2);
  ASSERT_TRUE(tune.ok() && test.ok());
  EXPECT_EQ(tune->size(), 3U);
  ASSERT_EQ(test->size(), 2U);
  EXPECT_EQ(test->front().jobs, source->make(day_seed(Role::kTest, 0))->jobs);
}

}  // namespace
}  // namespace partita::experiment
