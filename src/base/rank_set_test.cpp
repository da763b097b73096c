#include "base/rank_set.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace partita {
namespace {

void behaves_like_an_ordered_set(std::uint32_t capacity, std::uint64_t seed) {
  RankSet set(capacity);
  std::set<std::uint32_t> model;
  Rng rng(seed);
  for (int step = 0; step < 5'000; ++step) {
    const auto member = static_cast<std::uint32_t>(rng.below(capacity));
    if (rng.below(2) == 0) {
      set.add(member);
      model.insert(member);
    } else {
      set.remove(member);
      model.erase(member);
    }
    ASSERT_EQ(set.empty(), model.empty());
    ASSERT_EQ(set.first(), model.empty() ? RankSet::kNone : *model.begin());
    ASSERT_EQ(set.contains(member), model.contains(member));
  }
  ASSERT_EQ(set.count(), model.size());
  std::uint32_t index = 0;
  for (const std::uint32_t member : model) ASSERT_EQ(set.nth(index++), member);
}

TEST(RankSet, BehavesLikeAnOrderedSetAtEveryDepth) {
  for (const std::uint32_t capacity : {1U, 2U, 63U, 64U, 65U, 4'096U, 4'097U, 70'000U}) {
    behaves_like_an_ordered_set(capacity, capacity);
  }
}

TEST(RankSet, WithoutCapacityIsEmpty) {
  RankSet set(0);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.first(), RankSet::kNone);
  EXPECT_EQ(set.count(), 0U);
}

}  // namespace
}  // namespace partita
