#include "decide/active_job.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/rng.h"

namespace partita::decide {
namespace {

constexpr std::uint16_t kAllProfiles = 0x7f;

workload::Job job_with(std::array<std::int64_t, 5> times, std::int64_t deadline) {
  workload::Job job;
  job.deadline = {deadline};
  for (std::size_t i = 0; i < times.size(); ++i) job.time[i] = {times[i]};
  return job;
}

// On a slice of this size since `since`.
void run_on(ActiveJob& job, std::size_t size, Micros since) {
  job.slice = {0};
  job.size_index = static_cast<std::uint8_t>(size);
  job.progress_from = since;
  job.finish = since + Micros{static_cast<std::int64_t>(std::ceil(job.work * job.time[size]))};
  job.forget_on_time();
}

TEST(ActiveJob, ASizeWithoutATimeTakesForEver) {
  const ActiveJob job = make_active(job_with({-1, 20, -1, 8, 4}, 50), JobId{3}, kAllProfiles);
  EXPECT_TRUE(std::isinf(job.time[0]) && std::isinf(job.time[2]));
  EXPECT_EQ(job.fastest_time(), 4);
  EXPECT_EQ(job.id, JobId{3});
  EXPECT_FALSE(job.running());
}

TEST(ActiveJob, WorkFallsOnlyWhileItRuns) {
  ActiveJob job = make_active(job_with({40, 20, 16, 8, 4}, 50), JobId{0}, kAllProfiles);
  EXPECT_EQ(job.work_at(Micros{30}), 1);
  run_on(job, 3, Micros{10});
  EXPECT_EQ(job.work_at(Micros{10}), 1);
  EXPECT_EQ(job.work_at(Micros{12}), 0.75);
  EXPECT_EQ(job.work_at(Micros{18}), 0);
  EXPECT_EQ(job.work_at(Micros{100}), 0);
}

TEST(ActiveJob, WorkStandsStillDuringARestart) {
  ActiveJob job = make_active(job_with({40, 20, 16, 8, 4}, 50), JobId{0}, kAllProfiles);
  run_on(job, 3, Micros{10});  // progress from 10, though the slice may be held from earlier
  EXPECT_EQ(job.work_at(Micros{5}), 1);
}

TEST(ActiveJob, OnTimeIsExactToTheMicrosecond) {
  const ActiveJob job = make_active(job_with({40, 20, 16, 8, 4}, 20), JobId{0}, kAllProfiles);
  EXPECT_EQ(job.on_time_sizes(Micros{0}), 0b11110);
  EXPECT_EQ(job.on_time_sizes(Micros{1}), 0b11100);
  EXPECT_EQ(job.on_time_sizes(Micros{4}), 0b11100);
  EXPECT_EQ(job.on_time_sizes(Micros{5}), 0b11000);
  EXPECT_EQ(job.on_time_sizes(Micros{16}), 0b10000);
  EXPECT_EQ(job.on_time_sizes(Micros{17}), 0);
}

TEST(ActiveJob, ARestartMakesItLater) {
  ActiveJob job = make_active(job_with({40, 20, 16, 8, 4}, 20), JobId{0}, kAllProfiles);
  job.restart = {5};
  EXPECT_EQ(job.on_time_sizes(Micros{0}), 0b11000);
}

TEST(ActiveJob, WhereItRunsItIsOnTimeIfItsCompletionIs) {
  ActiveJob job = make_active(job_with({40, 20, 16, 8, 4}, 16), JobId{0}, kAllProfiles);
  run_on(job, 2, Micros{0});
  // Rounding in the fraction left must not tip it at any instant.
  for (std::int64_t now = 0; now < 16; ++now) {
    EXPECT_NE(job.on_time_sizes(Micros{now}) & 0b00100, 0) << now;
  }
}

// The cached answer against the definition, at every instant of many random lives.
TEST(ActiveJob, TheRememberedAnswerIsTheOneFoundAnew) {
  Rng rng(11);
  for (int life = 0; life < 2'000; ++life) {
    std::array<std::int64_t, 5> times{};
    const std::uint64_t longest = rng.below(2) == 0 ? 30 : 3'000;
    for (std::int64_t& time : times) time = static_cast<std::int64_t>(1 + rng.below(longest));
    ActiveJob job = make_active(job_with(times, static_cast<std::int64_t>(rng.below(2 * longest))),
                                JobId{0}, kAllProfiles);
    Micros now;
    for (int step = 0; step < 20; ++step) {
      now += Micros{static_cast<std::int64_t>(rng.below(longest / 5 + 1))};
      if (job.running() && now >= job.finish) break;
      ActiveJob fresh = job;
      fresh.on_time_until = Micros{-1};
      ASSERT_EQ(job.on_time_sizes(now), fresh.on_time_sizes(now)) << "life " << life;
      if (rng.below(3) != 0) continue;
      job.work = job.work_at(now);
      job.slice = SliceId{};
      job.forget_on_time();
      if (rng.below(2) == 0) run_on(job, rng.below(5), now);
    }
  }
}

TEST(ActiveJobs, HandlesOfRemovedJobsAreUsedAgain) {
  ActiveJobs jobs;
  const ActiveJob some = make_active(job_with({5, 4, 3, 2, 1}, 9), JobId{0}, kAllProfiles);
  const JobHandle first = jobs.add(some);
  const JobHandle second = jobs.add(some);
  EXPECT_NE(first, second);
  EXPECT_EQ(jobs.size(), 2U);
  jobs.remove(first);
  EXPECT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs.add(some), first);
}

TEST(ActiveJobs, TheTableIsAsLargeAsTheMostJobsPresentAtOnce) {
  ActiveJobs jobs;
  Rng rng(3);
  std::set<std::uint32_t> present;
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    if (!present.empty() && rng.below(2) == 0) {
      const auto leaving =
          std::next(present.begin(), static_cast<std::ptrdiff_t>(rng.below(present.size())));
      jobs.remove(JobHandle{*leaving});
      present.erase(leaving);
    } else {
      const ActiveJob job = make_active(job_with({5, 4, 3, 2, 1}, 9), JobId{i}, kAllProfiles);
      const JobHandle handle = jobs.add(job);
      ASSERT_TRUE(present.insert(handle.value).second);
      ASSERT_EQ(jobs[handle].id, JobId{i});
    }
    most = std::max(most, present.size());
    ASSERT_EQ(jobs.size(), present.size());
    for (const std::uint32_t handle : present) ASSERT_LT(handle, most);
  }
}

}  // namespace
}  // namespace partita::decide
