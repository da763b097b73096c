#include "policies/placements/most_packed.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(MostPacked, GoesToTheBusiestGpuThatIsOnTime) {
  Fleet fleet(3, "2,2,12");
  MostPacked rule;
  rule.rebuild(fleet.view);
  // All idle: GPU 0, its slower slice. Then GPU 0 is the busiest.
  EXPECT_EQ(fleet.claim(rule, kScaling, 99), "gpu 0 3g.20gb:4");
  EXPECT_EQ(fleet.claim(rule, kScaling, 99), "gpu 0 4g.20gb:0");
  EXPECT_EQ(fleet.claim(rule, kScaling, 99), "gpu 1 3g.20gb:4");
  // Only a 4g is on time; the busier GPUs have none left.
  EXPECT_EQ(fleet.claim(rule, kScaling, 8), "gpu 1 4g.20gb:0");
}

TEST(MostPacked, LateEverywhereTakesTheEarliestFinishOnTheBusiestGpu) {
  Fleet fleet(2, "2,2");
  MostPacked rule;
  rule.rebuild(fleet.view);
  EXPECT_EQ(fleet.claim(rule, {-1, -1, 5, -1, -1}, 99), "gpu 0 3g.20gb:4");
  EXPECT_EQ(fleet.claim(rule, kScaling, 1), "gpu 0 4g.20gb:0");
  EXPECT_EQ(fleet.claim(rule, {32, 16, 12, 12, 4}, 1), "gpu 1 3g.20gb:4");
}

TEST(MostPacked, AReleasedSliceMakesItsGpuLessBusy) {
  Fleet fleet(2, "2,2");
  MostPacked rule;
  rule.rebuild(fleet.view);
  EXPECT_EQ(fleet.claim(rule, {-1, -1, -1, 5, -1}, 99), "gpu 0 4g.20gb:0");
  EXPECT_EQ(fleet.claim(rule, {-1, -1, 5, -1, -1}, 99), "gpu 0 3g.20gb:4");
  EXPECT_EQ(fleet.claim(rule, {-1, -1, 5, -1, -1}, 99), "gpu 1 3g.20gb:4");
  rule.release(cluster::slice_id(GpuId{0}, 0));
  rule.release(cluster::slice_id(GpuId{0}, 4));
  // GPU 0 is idle now, GPU 1 has three busy.
  EXPECT_EQ(fleet.claim(rule, {-1, -1, -1, 5, -1}, 99), "gpu 1 4g.20gb:0");
  rule.free_all();
  EXPECT_EQ(fleet.claim(rule, {-1, -1, -1, 5, -1}, 99), "gpu 0 4g.20gb:0");
}

TEST(MostPacked, CountsWhatIsAlreadyRunning) {
  Fleet fleet(2, "2,2");
  cluster::apply(fleet.cluster, {.kind = cluster::Action::Kind::kStartJob,
                                 .slice = cluster::slice_id(GpuId{1}, 4),
                                 .job = cluster::JobHandle{1},
                                 .profile = 0});
  MostPacked rule;
  rule.rebuild(fleet.view);
  EXPECT_EQ(fleet.claim(rule, kScaling, 99), "gpu 1 4g.20gb:0");
}

}  // namespace
}  // namespace partita::policies
