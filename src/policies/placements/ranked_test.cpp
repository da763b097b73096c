#include "policies/placements/ranked.h"

#include <gtest/gtest.h>

#include "policies/registry.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

std::unique_ptr<SliceRule> rule_named(const char* name, const Fleet& fleet) {
  for (const PlacementRow& row : placements()) {
    if (row.facts.name != name) continue;
    std::unique_ptr<SliceRule> rule = row.make(1);
    rule->rebuild(fleet.view);
    return rule;
  }
  return nullptr;
}

// GPU 0: 2g:0 2g:2 1g.5gb:4 1g.5gb:5 1g.10gb:6 (mean 1.4). GPU 1: 4g:0 3g:4 (mean 3.5).
struct Ranked : testing::Test {
  std::string choice(const char* placement, std::array<std::int64_t, 5> times,
                     std::int64_t deadline, double memory_gib = 0) {
    const auto rule = rule_named(placement, fleet);
    return fleet.claim(*rule, times, deadline, memory_gib);
  }
  Fleet fleet{2, "10,2"};
};

TEST_F(Ranked, SlowestIsTheSmallestSliceThatIsOnTime) {
  EXPECT_EQ(choice("slowest", kScaling, 32), "gpu 0 1g.5gb:4");
  EXPECT_EQ(choice("slowest", kScaling, 31), "gpu 0 2g.10gb:0");
  EXPECT_EQ(choice("slowest", kScaling, 12), "gpu 1 3g.20gb:4");
  EXPECT_EQ(choice("slowest", kScaling, 11), "gpu 1 4g.20gb:0");
}

TEST_F(Ranked, SlowestFallsBackToTheEarliestFinish) {
  EXPECT_EQ(choice("slowest", kScaling, 1), "gpu 1 4g.20gb:0");
  EXPECT_EQ(choice("slowest", {5, 9, 9, 9, 9}, 1), "gpu 0 1g.5gb:4");
}

TEST_F(Ranked, WideFirstGoesGpuByGpuThoseWithLargeSlicesFirst) {
  EXPECT_EQ(choice("wide-first", kScaling, 32), "gpu 1 3g.20gb:4");
  EXPECT_EQ(choice("wide-first", kScaling, 11), "gpu 1 4g.20gb:0");
  EXPECT_EQ(choice("wide-first", {5, 9, 99, 99, 99}, 9), "gpu 0 1g.5gb:4");
}

TEST_F(Ranked, FastestAndEarliestDifferInTies) {
  EXPECT_EQ(choice("fastest", {7, 7, 7, 7, 7}, 0), "gpu 1 4g.20gb:0");
  EXPECT_EQ(choice("earliest", {7, 7, 7, 7, 7}, 0), "gpu 0 1g.5gb:4");
  EXPECT_EQ(choice("fastest", {7, 6, 7, 7, 7}, 0), "gpu 0 2g.10gb:0");
}

TEST_F(Ranked, LargestAndSmallestLookAtSizesOnly) {
  EXPECT_EQ(choice("largest", {1, 9, 9, 9, 9}, 1), "gpu 1 4g.20gb:0");
  EXPECT_EQ(choice("smallest", kScaling, 1), "gpu 0 1g.5gb:4");
}

TEST_F(Ranked, FirstGoesByNumber) {
  EXPECT_EQ(choice("first", kScaling, 1), "gpu 0 2g.10gb:0");
}

TEST_F(Ranked, InsideASizeLessMemoryComesFirst) {
  EXPECT_EQ(choice("smallest", kScaling, 1, 9), "gpu 0 1g.10gb:6");
  EXPECT_EQ(choice("first", kScaling, 1, 15), "gpu 1 4g.20gb:0");
}

TEST_F(Ranked, ATakenSliceIsGoneUntilReleased) {
  const auto rule = rule_named("slowest", fleet);
  EXPECT_EQ(fleet.claim(*rule, {5, -1, -1, -1, -1}, 99), "gpu 0 1g.5gb:4");
  EXPECT_EQ(fleet.claim(*rule, {5, -1, -1, -1, -1}, 99), "gpu 0 1g.5gb:5");
  EXPECT_EQ(fleet.claim(*rule, {5, -1, -1, -1, -1}, 99), "gpu 0 1g.10gb:6");
  EXPECT_EQ(fleet.claim(*rule, {5, -1, -1, -1, -1}, 99), "none");
  rule->release(cluster::slice_id(GpuId{0}, 5));
  EXPECT_EQ(fleet.claim(*rule, {5, -1, -1, -1, -1}, 99), "gpu 0 1g.5gb:5");
  rule->free_all();
  EXPECT_EQ(fleet.claim(*rule, {5, -1, -1, -1, -1}, 99), "gpu 0 1g.5gb:4");
}

TEST_F(Ranked, FreeProfilesAreThoseWithASliceLeft) {
  const auto rule = rule_named("slowest", fleet);
  const unsigned before = rule->free_profiles();
  EXPECT_EQ(fleet.claim(*rule, {-1, -1, 5, -1, -1}, 99), "gpu 1 3g.20gb:4");
  const mig::ProfileIndex three = *mig::parse_profile(*fleet.cluster.model, "3g.20gb");
  EXPECT_EQ(before ^ rule->free_profiles(), 1U << three);
}

TEST_F(Ranked, ABusyOrClosingSliceIsNotOffered) {
  cluster::apply(fleet.cluster, {.kind = cluster::Action::Kind::kClose,
                                 .slice = cluster::slice_id(GpuId{0}, 4),
                                 .job = {},
                                 .profile = 0});
  cluster::apply(fleet.cluster, {.kind = cluster::Action::Kind::kStartJob,
                                 .slice = cluster::slice_id(GpuId{0}, 5),
                                 .job = cluster::JobHandle{1},
                                 .profile = 0});
  EXPECT_EQ(choice("smallest", kScaling, 1), "gpu 0 1g.10gb:6");
}

}  // namespace
}  // namespace partita::policies
