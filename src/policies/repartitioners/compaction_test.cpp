#include "policies/repartitioners/compaction.h"

#include <gtest/gtest.h>

#include <array>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

using cluster::JobHandle;
using cluster::SliceId;

constexpr std::int64_t kCost = 30;

// Three A100, the last with instances that nobody has got yet; it is noon.
class Compaction : public testing::Test {
 protected:
  Compaction() : fleet_(3, "1g.5gb:0,2g.10gb:2,3g.20gb:4;4g.20gb:0,3g.20gb:4;1g.5gb:0,3g.20gb:4") {
    fleet_.view.now = Micros::seconds(43'200);
    fleet_.view.preemption = {decide::Preemption::Mode::kPays, Micros::seconds(kCost)};
    for (const cluster::Gpu& gpu : fleet_.cluster.gpus) wanted_.push_back(gpu.layout);
  }

  // For so long it has made progress, and for so long it will.
  JobHandle run(std::uint32_t gpu, int start, std::int64_t for_s, std::int64_t left_s) {
    const SliceId slice = cluster::slice_id(GpuId{gpu}, static_cast<std::uint8_t>(start));
    decide::ActiveJob job = waiting_job({1, 1, 1, 1, 1}, 1);
    job.slice = slice;
    job.progress_from = fleet_.view.now - Micros::seconds(for_s);
    job.finish = fleet_.view.now + Micros::seconds(left_s);
    const JobHandle handle = fleet_.jobs.add(job);
    cluster::start_job(fleet_.cluster, slice, handle);
    return handle;
  }
  void drop(std::uint32_t gpu, std::uint8_t start) {
    mig::Layout kept;
    for (const mig::Placement each : wanted_[gpu].instances()) {
      if (each.start != start) kept.add(each);
    }
    wanted_[gpu] = kept;
  }
  SpaceSearch spaces_on(std::string_view name) const {
    const auto& profiles = fleet_.cluster.model->profiles;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      if (profiles[i].name != name) continue;
      const std::array wanted{static_cast<mig::ProfileIndex>(i)};
      return spaces_for(fleet_.view, wanted_, wanted);
    }
    ADD_FAILURE() << "no profile " << name;
    return {};
  }

  Fleet fleet_;
  std::vector<mig::Layout> wanted_;
};

TEST_F(Compaction, TheWaitEndsWhereTheLastObstacleEndsFirst) {
  for (const int start : {0, 2, 4}) run(0, start, 9'000, 5'000 + start);
  drop(1, 0);
  drop(2, 4);  // space for what has to move
  run(1, 4, 9'000, 7'000);
  EXPECT_EQ(spaces_on("7g.40gb").wait, Micros::seconds(5'004));
}

TEST_F(Compaction, TheCheapestComesFirst) {
  drop(2, 4);
  drop(1, 0);
  drop(0, 2);
  run(0, 0, 9'000, 9'000);
  run(0, 4, 9'000, 9'000);
  const JobHandle alone = run(1, 4, 9'000, 9'000);
  const SpaceSearch found = spaces_on("7g.40gb");
  ASSERT_EQ(found.spaces.size(), 2U);
  EXPECT_EQ(found.spaces[0].gpu, GpuId{1});
  EXPECT_EQ(found.spaces[0].movers, std::vector{alone});
  EXPECT_EQ(found.spaces[0].cost, cost_of_move(fleet_.view, cluster::slice_id(GpuId{1}, 4)));
  EXPECT_EQ(found.spaces[1].movers.size(), 2U);
}

TEST_F(Compaction, WhoCannotBeResumedOrHasJustStartedOrEndsSoonStays) {
  drop(0, 0);
  drop(0, 2);
  drop(0, 4);
  drop(1, 0);
  wanted_[0].add(fleet_.cluster.gpus[0].layout.instances().front());  // not for anybody yet
  const JobHandle alone = run(1, 4, 9'000, 9'000);
  ASSERT_EQ(spaces_on("7g.40gb").spaces.size(), 1U);
  fleet_.jobs[alone].resumable = false;
  EXPECT_TRUE(spaces_on("7g.40gb").spaces.empty());
  fleet_.jobs[alone].resumable = true;
  fleet_.jobs[alone].progress_from = fleet_.view.now - Micros::seconds(10 * kCost);
  EXPECT_TRUE(spaces_on("7g.40gb").spaces.empty());  // the making of its instance counts too
  fleet_.jobs[alone].progress_from = fleet_.view.now - Micros::seconds(9'000);
  fleet_.jobs[alone].finish = fleet_.view.now + Micros::seconds(3 * kCost);
  EXPECT_TRUE(spaces_on("7g.40gb").spaces.empty());
  EXPECT_EQ(spaces_on("7g.40gb").wait, Micros::seconds(3 * kCost));
}

TEST_F(Compaction, NothingIsLookedForWhereTooLittleMemoryIsFree) {
  for (const int start : {0, 2, 4}) run(0, start, 9'000, 9'000);
  for (const int start : {0, 4}) run(1, start, 9'000, 9'000);
  EXPECT_EQ(spaces_on("7g.40gb").wait, Micros::max());
}

TEST_F(Compaction, AnInstanceThatStandsIsNotTakenFromItsJob) {
  drop(0, 0);
  drop(0, 2);
  drop(0, 4);
  wanted_[0].add(fleet_.cluster.gpus[0].layout.instances().front());
  run(1, 0, 9'000, 9'000);
  run(1, 4, 9'000, 8'000);
  const SpaceSearch found = spaces_on("4g.20gb");
  EXPECT_EQ(found.wait, Micros::seconds(9'000));
  EXPECT_TRUE(found.spaces.empty());
}

}  // namespace
}  // namespace partita::policies
