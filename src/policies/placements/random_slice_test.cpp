#include "policies/placements/random_slice.h"

#include <gtest/gtest.h>

#include <map>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(RandomSlice, GivesEveryFreeSliceThatFitsAboutEquallyOften) {
  Fleet fleet(2, "3,2");
  RandomSlice rule(5);
  rule.rebuild(fleet.view);
  std::map<std::string, int> counts;
  constexpr int kDraws = 8'000;
  for (int i = 0; i < kDraws; ++i) {
    rule.free_all();
    ++counts[fleet.claim(rule, {-1, 5, 5, 5, 5}, 1)];
  }
  ASSERT_EQ(counts.size(), 4U);  // 4g and 2g of GPU 0, 4g and 3g of GPU 1
  for (const auto& [slice, count] : counts) EXPECT_NEAR(count, kDraws / 4, 200) << slice;
}

TEST(RandomSlice, TheSameSeedGivesTheSameChoices) {
  Fleet fleet(4, "12,12,12,12");
  RandomSlice first(5);
  RandomSlice second(5);
  first.rebuild(fleet.view);
  second.rebuild(fleet.view);
  for (int i = 0; i < 28; ++i) {
    const std::string choice = fleet.claim(first, kScaling, 1);
    EXPECT_EQ(choice, fleet.claim(second, kScaling, 1));
    EXPECT_NE(choice, "none");
  }
  EXPECT_EQ(fleet.claim(first, kScaling, 1), "none");
}

}  // namespace
}  // namespace partita::policies
