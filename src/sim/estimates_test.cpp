#include "sim/estimates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/round_up.h"

namespace partita::sim {
namespace {

workload::Job job_of(std::int64_t seconds) {
  workload::Job job;
  job.time.fill(Micros::seconds(seconds));
  job.time[4] = workload::kNoTime;
  return job;
}

// As the world does it: a pace is set at `now` on a slice of size index 0.
decide::ActiveJob running(const workload::Job& told, Micros now) {
  decide::ActiveJob active = decide::make_active(told, JobId{0}, 1);
  active.progress_from = now;
  active.finish = now + round_up(active.work * active.time[0]);
  active.slice = cluster::SliceId{0};
  return active;
}

TEST(Estimates, AreWrongByALogNormalFactorAboutOneThatOnlyTheSeedAndTheJobDecide) {
  const Estimates estimates(0.3, 7);
  double sum = 0;
  double squares = 0;
  constexpr int kJobs = 20'000;
  for (std::uint32_t i = 0; i < kJobs; ++i) {
    const double logarithm = std::log(estimates.factor_of(JobId{i}));
    sum += logarithm;
    squares += logarithm * logarithm;
  }
  EXPECT_NEAR(sum / kJobs, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kJobs), 0.3, 0.01);
  EXPECT_EQ(estimates.factor_of(JobId{5}), Estimates(0.3, 7).factor_of(JobId{5}));
  EXPECT_NE(estimates.factor_of(JobId{5}), Estimates(0.3, 8).factor_of(JobId{5}));
}

TEST(Estimates, AllTimesOfAJobAreWrongByTheSameFactorAndAForbiddenSizeStaysSo) {
  const Estimates estimates(1, 3);
  const workload::Job job = job_of(1000);
  const workload::Job told = estimates.told(job, JobId{4});
  const double factor = estimates.factor_of(JobId{4});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(static_cast<double>(told.time[i].count), factor * 1e9, 1.0);
  }
  EXPECT_EQ(told.time[4], workload::kNoTime);
}

TEST(Estimates, AJobThatOutlivesItsEstimateIsBelievedToBeHalfDoneEachTime) {
  Estimates estimates(1, 1);
  const JobHandle handle{0};
  estimates.begin(handle, job_of(70));
  decide::ActiveJob told = running(job_of(10), Micros{});
  std::vector<std::int64_t> looks;
  for (Micros now = estimates.due(handle, told); !estimates.done(handle, now);
       now = estimates.due(handle, told)) {
    looks.push_back(now.count / 1'000'000);
    estimates.book(handle, told, now);
    told.work = estimates.believe_more(handle);
    told.progress_from = now;
    told.finish = now + round_up(told.work * told.time[0]);
  }
  EXPECT_EQ(looks, (std::vector<std::int64_t>{10, 20, 40}));
  EXPECT_NEAR(estimates.due(handle, told).to_seconds(), 70, 2e-6);
}

TEST(Estimates, AJobThatEndsBeforeItsEstimateIsDoneThen) {
  Estimates estimates(1, 1);
  const JobHandle handle{2};
  estimates.begin(handle, job_of(4));
  const decide::ActiveJob told = running(job_of(10), Micros::seconds(100));
  EXPECT_EQ(estimates.due(handle, told), Micros::seconds(104));
  EXPECT_FALSE(estimates.done(handle, Micros::seconds(103)));
  EXPECT_TRUE(estimates.done(handle, Micros::seconds(104)));
}

}  // namespace
}  // namespace partita::sim
