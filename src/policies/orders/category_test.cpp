#include "policies/orders/category.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(Category, IsTheLargestSizeThatGivesLessThanFourFifthsOfTheBest) {
  EXPECT_EQ(Category::category(waiting_job({32, 16, 12, 8, 4}, 0)), 1);
  EXPECT_EQ(Category::category(waiting_job({40, 20, 13, 5, 4}, 0)), 2);  // 4 = 0.8 * 5: enough
  EXPECT_EQ(Category::category(waiting_job({40, 5, 5, 5, 4}, 0)), 3);
  EXPECT_EQ(Category::category(waiting_job({5, 5, 5, 5, 4}, 0)), 4);
}

TEST(Category, ASizeItMayNotUseGivesNothing) {
  EXPECT_EQ(Category::category(waiting_job({5, 5, 5, -1, 4}, 0)), 1);
  EXPECT_EQ(Category::category(waiting_job({-1, 5, 5, 5, 4}, 0)), 3);
}

TEST(Category, ThePapersFourTypesAreOneOneOneAndTwo) {
  // Throughputs of papers.md 0.4 as times for the same work, in arbitrary units.
  EXPECT_EQ(Category::category(waiting_job({7000, 3500, 2333, 1750, 1000}, 0)), 1);
  EXPECT_EQ(Category::category(waiting_job({5750, 2875, 1917, 1472, 1000}, 0)), 1);
  EXPECT_EQ(Category::category(waiting_job({4773, 2561, 1810, 1479, 1000}, 0)), 1);
  EXPECT_EQ(Category::category(waiting_job({2868, 1625, 1242, 1161, 1000}, 0)), 2);
}

TEST(Category, OrdersByCategoryThenDeadline) {
  const Category order;
  const auto key = [&](std::array<std::int64_t, 5> times, std::int64_t deadline) {
    return order.key(Candidate(waiting_job(times, deadline), Micros{}));
  };
  EXPECT_LT(key(kScaling, kFarDeadline), key({5, 5, 5, 5, 4}, 0));
  EXPECT_LT(key(kScaling, 10), key(kScaling, 11));
  EXPECT_EQ(order.key_change(), KeyChange::kNever);
}

}  // namespace
}  // namespace partita::policies
