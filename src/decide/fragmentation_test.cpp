#include "decide/fragmentation.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/rng.h"

namespace partita::decide {
namespace {

constexpr std::uint16_t bit(mig::ProfileIndex profile) {
  return static_cast<std::uint16_t>(1U << profile);
}

class FragmentationOfTwoGpus : public testing::Test {
 protected:
  FragmentationOfTwoGpus() : cluster_(**mig::find_gpu("a100-40gb"), 2) {
    set_layout(0, "1g.5gb:0,3g.20gb:4");
    set_layout(1, "1g.5gb:0,3g.20gb:4");
  }

  void set_layout(std::uint32_t gpu, std::string_view text) {
    cluster::place_layout(cluster_, GpuId{gpu}, *mig::parse_layout(*cluster_.model, text));
  }
  mig::ProfileIndex profile(std::string_view name) const {
    for (std::size_t i = 0; i < cluster_.model->profiles.size(); ++i) {
      if (cluster_.model->profiles[i].name == name) return static_cast<mig::ProfileIndex>(i);
    }
    ADD_FAILURE() << "no profile " << name;
    return 0;
  }
  // Seconds on every size, `work` of it left.
  JobHandle wait(std::int64_t seconds, std::uint16_t fits, double work = 1) {
    workload::Job job;
    job.time.fill(Micros::seconds(seconds));
    ActiveJob active = make_active(job, JobId{next_id_++}, fits);
    active.work = work;
    return jobs_.add(active);
  }
  void run_on(std::uint32_t gpu, std::uint8_t start) {
    const cluster::SliceId slice = cluster::slice_id(GpuId{gpu}, start);
    const JobHandle job = wait(1000, bit(cluster_.slice(slice).profile));
    jobs_[job].slice = slice;
    cluster::start_job(cluster_, slice, job);
  }
  Fragmentation found() const {
    const View view{Micros{}, cluster_, jobs_, {}, cluster_.model->power_curves.front()};
    return fragmentation(view);
  }

  cluster::ClusterState cluster_;
  ActiveJobs jobs_;
  std::uint32_t next_id_ = 0;
};

TEST_F(FragmentationOfTwoGpus, IsNothingWhenNobodyWaits) {
  EXPECT_EQ(found().queued_us, 0);
  EXPECT_EQ(found().ratio(), 0);
  run_on(0, 0);
  EXPECT_EQ(found().ratio(), 0);
}

TEST_F(FragmentationOfTwoGpus, CountsWorkThatNeedsALargerSliceThanStands) {
  run_on(0, 0);  // 13 of 14 slices are idle, and no GPU is whole
  wait(300, bit(profile("7g.40gb")));
  wait(100, bit(profile("1g.5gb")));
  EXPECT_EQ(found().queued_us, 400e6);
  EXPECT_EQ(found().blocked_us, 300e6);
  EXPECT_DOUBLE_EQ(found().ratio(), 0.75);
}

TEST_F(FragmentationOfTwoGpus, CountsTheWorkThatIsLeft) {
  wait(300, bit(profile("7g.40gb")), 0.5);
  EXPECT_EQ(found().blocked_us, 150e6);
}

TEST_F(FragmentationOfTwoGpus, TakesTheFastestSizeThatTheJobMayUse) {
  workload::Job job;
  for (std::size_t i = 0; i < job.time.size(); ++i) {
    job.time[i] = Micros::seconds(50 - 10 * static_cast<std::int64_t>(i));
  }
  const auto fits = bit(profile("2g.10gb")) | bit(profile("4g.20gb"));
  jobs_.add(make_active(job, JobId{0}, static_cast<std::uint16_t>(fits)));
  EXPECT_EQ(found().queued_us, 20e6);  // on 4g, though 7g would be faster
}

// Waiting for want of slices is not fragmentation: no cut would help.
TEST_F(FragmentationOfTwoGpus, CountsNothingThatHasTooFewIdleSlices) {
  for (const std::uint32_t gpu : {0U, 1U}) {
    run_on(gpu, 0);
    run_on(gpu, 4);
  }
  wait(300, bit(profile("7g.40gb")));  // 6 are idle
  wait(200, bit(profile("3g.20gb")));
  EXPECT_EQ(found().queued_us, 500e6);
  EXPECT_EQ(found().blocked_us, 200e6);
}

TEST_F(FragmentationOfTwoGpus, TakesTheSmallestProfileThatFits) {
  run_on(0, 0);
  run_on(1, 0);
  run_on(0, 4);
  run_on(1, 4);  // 6 are idle
  const auto either = bit(profile("7g.40gb")) | bit(profile("4g.20gb"));
  wait(300, static_cast<std::uint16_t>(either));
  EXPECT_EQ(found().blocked_us, 300e6);
}

TEST_F(FragmentationOfTwoGpus, TakesAClosingInstanceForNoPlace) {
  wait(100, bit(profile("1g.5gb")));
  EXPECT_EQ(found().blocked_us, 0);
  for (const std::uint32_t gpu : {0U, 1U}) {
    cluster::apply(cluster_, {.kind = cluster::Action::Kind::kClose,
                              .slice = cluster::slice_id(GpuId{gpu}, 0),
                              .job = {},
                              .profile = 0});
  }
  EXPECT_EQ(found().blocked_us, 100e6);
}

TEST_F(FragmentationOfTwoGpus, LeavesOutAJobThatNoProfileFits) {
  wait(100, 0);
  EXPECT_EQ(found().queued_us, 0);
}

// However jobs come and go, what was kept up to date is what a fresh look finds.
TEST_F(FragmentationOfTwoGpus, KeptUpToDateEqualsAFreshLook) {
  Rng rng(5);
  QueuedWork kept(*cluster_.model);
  std::vector<JobHandle> waiting;
  run_on(0, 0);
  for (int step = 0; step < 2'000; ++step) {
    if (waiting.empty() || rng.below(2) == 0) {
      const auto fits = static_cast<std::uint16_t>(1 + rng.below(0x3f));
      waiting.push_back(wait(1 + static_cast<std::int64_t>(rng.below(5'000)), fits, 0.3));
      kept.enter(waiting.back(), jobs_[waiting.back()]);
    } else {
      std::swap(waiting[rng.below(waiting.size())], waiting.back());
      kept.leave(waiting.back());
      jobs_.remove(waiting.back());
      waiting.pop_back();
    }
    const Fragmentation fresh = found();
    const Fragmentation told = kept.measure(cluster_);
    ASSERT_EQ(told.queued_us, fresh.queued_us);
    ASSERT_EQ(told.blocked_us, fresh.blocked_us);
  }
}

}  // namespace
}  // namespace partita::decide
