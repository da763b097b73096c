#include "policies/arrival_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace partita::policies {
namespace {

constexpr Micros kHour = Micros::seconds(3600);

decide::ActiveJob job_at(Micros arrival, Micros slack) {
  workload::Job job;
  job.arrival = arrival;
  job.deadline = arrival + slack;
  job.time.fill(Micros::seconds(60));
  job.time[0] = workload::kNoTime;
  job.memory_gib = 7;
  return decide::make_active(job, JobId{0}, 1);
}

// Jobs come every 30 s in even hours and every 60 s in odd ones.
std::array<double, 24> alternating() {
  std::array<double, 24> profile{};
  for (std::size_t hour = 0; hour < 24; ++hour) profile[hour] = hour % 2 == 0 ? 4.0 / 3 : 2.0 / 3;
  return profile;
}

ArrivalModel model_after(int hours) {
  ArrivalModel model(alternating());
  for (Micros time; time < Micros{hours * kHour.count};) {
    const bool even = time.count / kHour.count % 2 == 0;
    time += Micros::seconds(even ? 30 : 60);
    model.job_arrived(job_at(time, Micros::seconds(600)));
  }
  return model;
}

TEST(ArrivalModel, SaysNothingBeforeEnoughJobsCame) {
  ArrivalModel model(alternating());
  for (std::size_t i = 0; i + 1 < ArrivalModel::kPoolJobsMin; ++i) {
    model.job_arrived(job_at(Micros{0}, Micros::seconds(1)));
  }
  EXPECT_FALSE(model.ready());
  model.job_arrived(job_at(Micros{0}, Micros::seconds(1)));
  EXPECT_TRUE(model.ready());
}

TEST(ArrivalModel, FewJobsThatAreMostOfTheWorkMakeTheMeanTimeUncertain) {
  ArrivalModel even(alternating());
  ArrivalModel heavy(alternating());
  for (int i = 0; i < 400; ++i) {
    decide::ActiveJob job = job_at(Micros{i}, Micros::seconds(1));
    even.job_arrived(job);
    if (i % 100 == 0) {
      for (double& time : job.time) time *= 1'000;
    }
    heavy.job_arrived(job);
  }
  EXPECT_EQ(even.mean_time(), Micros::seconds(60));
  EXPECT_NEAR(even.mean_time_error(), 0, 1e-9);
  // A hundredth of the jobs takes 60,000 s: mean 659.4 s, deviation 5964 s, 400 jobs.
  EXPECT_NEAR(heavy.mean_time().to_seconds(), 659.4, 0.1);
  EXPECT_NEAR(heavy.mean_time_error(), 5964.0 / 20 / 659.4, 0.01);
}

TEST(ArrivalModel, TheLevelIsWhatCameOverWhatTheProfileLetExpect) {
  const ArrivalModel model = model_after(6);
  EXPECT_NEAR(model.level(Micros{6 * kHour.count}), 90, 1);
  EXPECT_NEAR(model.level(Micros{5 * kHour.count + kHour.count / 2}), 90, 20);
}

TEST(ArrivalModel, WhoBeganToWatchLatelyKnowsThatItDid) {
  const Micros began = Micros::seconds(1'800'000'000);
  std::array<double, 24> flat;
  flat.fill(1);
  ArrivalModel model(flat, began);
  for (int i = 1; i <= 60; ++i) {
    model.job_arrived(job_at(began + Micros::seconds(30 * i), Micros::seconds(600)));
  }
  EXPECT_NEAR(model.level(began + Micros::seconds(1800)), 120, 1e-9);
  ArrivalModel crowd(flat, began);
  for (int i = 1; i <= 60; ++i) crowd.job_arrived(job_at(began + Micros{i}, Micros::seconds(600)));
  EXPECT_NEAR(crowd.level(began + Micros::seconds(1)), 240, 1e-9);  // of a quarter of an hour
}

TEST(ArrivalModel, ASampleHasALimit) {
  std::array<double, 24> flat;
  flat.fill(1);
  ArrivalModel model(flat);
  for (int i = 0; i < 100'000; ++i) model.job_arrived(job_at(Micros{i}, Micros::seconds(1)));
  Rng rng(1);
  std::vector<workload::Job> jobs;
  model.sample(rng, Micros::seconds(1), kHour, jobs);
  EXPECT_EQ(jobs.size(), ArrivalModel::kSampleJobsMax);
}

TEST(ArrivalModel, FuturesFollowTheProfileAndTheJobsThatCame) {
  const ArrivalModel model = model_after(6);
  Rng rng(1);
  const Micros now{6 * kHour.count};
  double even = 0;
  double odd = 0;
  std::vector<workload::Job> future;
  for (int i = 0; i < 200; ++i) {
    model.sample(rng, now, Micros{8 * kHour.count}, future);
    for (const workload::Job& job : future) {
      ASSERT_GT(job.arrival, now);
      ASSERT_EQ(job.deadline - job.arrival, Micros::seconds(600));
      ASSERT_EQ(job.time[0], workload::kNoTime);
      ASSERT_EQ(job.time[4], Micros::seconds(60));
      ASSERT_EQ(job.memory_gib, 7);
      (job.arrival < Micros{7 * kHour.count} ? even : odd) += 1.0 / 200;
    }
    ASSERT_TRUE(std::is_sorted(future.begin(), future.end(),
                               [](const auto& a, const auto& b) { return a.arrival < b.arrival; }));
  }
  EXPECT_NEAR(even, 120, 4);
  EXPECT_NEAR(odd, 60, 3);
}

}  // namespace
}  // namespace partita::policies
