#include "policies/learned/slice_observation.h"

#include <gtest/gtest.h>

#include <numeric>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(SliceObservation, HasTheNumbersOfTheReport) {
  EXPECT_EQ(slice_observation_size(20), 88U);
  Fleet fleet(2, "1,2");
  SliceObservation observation;
  observation.rebuild(fleet.cluster);
  ASSERT_EQ(observation.slices().size(), 3U);
  EXPECT_EQ(SliceObservation::sizes_text(fleet.cluster), "7,4,3");
  std::vector<JobHandle> waiting;
  // 28, 14, 10, 7 and 4 minutes; due in 8.
  decide::ActiveJob job = waiting_job(
      {28 * kMinute, 14 * kMinute, 10 * kMinute, 7 * kMinute, 4 * kMinute}, 8 * kMinute);
  job.fits = 0xffff;
  for (std::uint32_t i = 0; i < 2; ++i) {
    job.id = JobId{i};
    waiting.push_back(fleet.jobs.add(job));
    observation.enter(job);
  }
  cluster::start_job(fleet.cluster, cluster::slice_id(GpuId{0}, 0), JobHandle{9});
  std::vector<float> out(slice_observation_size(3));
  observation.write(fleet.view, waiting, fleet.jobs[waiting[0]], 3, out);
  const std::vector<float> next(out.begin(), out.begin() + 5);
  EXPECT_EQ(next, (std::vector<float>{0.08F, 0.21F, 0.085F, 0.04F, 0.5F}));
  // All in one bin of each histogram: 8 and 8.5 minutes in 5..10, 21 in 20..30, 4 in 1..5.
  EXPECT_EQ(out[5 + 6], 1.0F);
  EXPECT_EQ(out[15 + 8], 1.0F);
  EXPECT_EQ(out[25 + 6], 1.0F);
  EXPECT_EQ(out[35 + 5], 1.0F);
  EXPECT_EQ(std::accumulate(out.begin() + 5, out.begin() + 45, 0.0F), 4.0F);
  const std::vector<float> rest(out.begin() + 45, out.end());
  EXPECT_EQ(rest, (std::vector<float>{1, 0, 0, 1, 4 / 7.0F, 3 / 7.0F, 0.02F, 2 / 3.0F, 4 / 7.0F}));
}

TEST(SliceObservation, AllowsFreeSlicesThatFitAndWereNotTaken) {
  Fleet fleet(2, "1,2");
  SliceObservation observation;
  observation.rebuild(fleet.cluster);
  decide::ActiveJob job = waiting_job(kScaling, kFarDeadline);
  job.fits = static_cast<std::uint16_t>(~(1U << fleet.cluster.slices[0].profile));
  std::vector<std::uint8_t> allowed(3);
  observation.mark_allowed(fleet.view, job, allowed);
  EXPECT_EQ(allowed, (std::vector<std::uint8_t>{0, 1, 1}));
  observation.take(1);
  observation.mark_allowed(fleet.view, job, allowed);
  EXPECT_EQ(allowed, (std::vector<std::uint8_t>{0, 0, 1}));
  observation.begin_decision();
  observation.mark_allowed(fleet.view, job, allowed);
  EXPECT_EQ(allowed, (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(SliceObservation, WhoLeavesIsCountedNoMore) {
  Fleet fleet(1, "1");
  SliceObservation observation;
  observation.rebuild(fleet.cluster);
  decide::ActiveJob job = waiting_job(kScaling, kFarDeadline);
  const JobHandle handle = fleet.jobs.add(job);
  std::vector<float> before(slice_observation_size(1));
  std::vector<float> after(before.size());
  observation.write(fleet.view, {}, fleet.jobs[handle], 1, before);
  observation.enter(job);
  observation.leave(job);
  observation.write(fleet.view, {}, fleet.jobs[handle], 1, after);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace partita::policies
