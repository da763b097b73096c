#include "policies/schedulers/free_slices.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"
#include "policies/placements/ranked.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(FreeSlices, RankByThePreferenceThenByPlace) {
  Fleet fleet(2, "3,3");
  FreeSlices slices;
  slices.rebuild(fleet.view, smaller_first);
  std::vector<std::string> names;
  for (std::uint32_t rank = 0; rank < 6; ++rank) names.push_back(fleet.name(slices.at(rank).slice));
  EXPECT_EQ(names,
            (std::vector<std::string>{"gpu 0 1g.10gb:6", "gpu 1 1g.10gb:6", "gpu 0 2g.10gb:4",
                                      "gpu 1 2g.10gb:4", "gpu 0 4g.20gb:0", "gpu 1 4g.20gb:0"}));
}

TEST(FreeSlices, AClosingSliceIsNotRankedAndItsReleaseIsIgnored) {
  Fleet fleet(1, "2");
  const SliceId closing = cluster::slice_id(GpuId{0}, 4);
  cluster::apply(
      fleet.cluster,
      {.kind = cluster::Action::Kind::kClose, .slice = closing, .job = {}, .profile = 0});
  FreeSlices slices;
  slices.rebuild(fleet.view, smaller_first);
  EXPECT_EQ(slices.count(0x7f), 1U);
  slices.release(closing);
  EXPECT_EQ(slices.count(0x7f), 1U);
}

// The same claims and releases on a list of flags, for fleets on both sides of 64 slices.
void compare_with_flags(std::uint32_t gpus, const char* layouts, bool small) {
  Fleet fleet(gpus, layouts);
  FreeSlices slices;
  slices.rebuild(fleet.view, larger_first);
  EXPECT_EQ(slices.small(), small);
  const auto count = static_cast<std::uint32_t>(usable_slices(fleet.cluster).size());
  std::vector<bool> free(count, true);
  Rng rng(gpus);
  for (int step = 0; step < 4'000; ++step) {
    const auto mask = static_cast<std::uint16_t>(rng.below(0x80));
    std::vector<std::uint32_t> wanted;
    unsigned profiles = 0;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      if (!free[rank]) continue;
      profiles |= 1U << slices.at(rank).profile;
      if ((mask >> slices.at(rank).profile & 1U) != 0) wanted.push_back(rank);
    }
    ASSERT_EQ(slices.free_profiles(), profiles);
    ASSERT_EQ(slices.count(mask), wanted.size());
    ASSERT_EQ(slices.first(mask), wanted.empty() ? FreeSlices::kNone : wanted.front());
    if (!wanted.empty()) {
      const auto index = static_cast<std::uint32_t>(rng.below(wanted.size()));
      ASSERT_EQ(slices.nth(mask, index), wanted[index]);
      slices.take(wanted[index]);
      free[wanted[index]] = false;
    }
    const auto some = static_cast<std::uint32_t>(rng.below(count));
    if (!free[some] && rng.below(2) == 0) {
      slices.release(slices.at(some).slice);
      free[some] = true;
    }
    if (rng.below(200) == 0) {
      slices.free_all();
      free.assign(count, true);
    }
  }
}

TEST(FreeSlices, OfASmallFleetAreAListOfFlags) {
  compare_with_flags(4, "10,3,2,12", true);
  compare_with_flags(9, "12", true);
}

TEST(FreeSlices, OfALargeFleetAreAListOfFlags) {
  compare_with_flags(10, "12", false);
  compare_with_flags(30, "10", false);
}

TEST(UsableSlices, SayTheMeanSizeOfTheirGpu) {
  Fleet fleet(2, "1,6");
  for (const RankedSlice& slice : usable_slices(fleet.cluster)) {
    EXPECT_DOUBLE_EQ(slice.gpu_mean_size, slice.gpu == 0 ? 7.0 : 7.0 / 3);
  }
}

}  // namespace
}  // namespace partita::policies
