#include "decide/fair_share.h"

#include <gtest/gtest.h>

namespace partita::decide {
namespace {

constexpr Micros kHour = Micros::seconds(3600);

TEST(FairShare, NobodyHasUsedAnythingAtFirst) {
  const FairShare share(kHour);
  EXPECT_EQ(share.usage(3, kHour), 0);
  EXPECT_EQ(share.total(3, kHour), 0);
  EXPECT_EQ(share.weight(3), 1);
  EXPECT_TRUE(share.rows(kHour).empty());
}

TEST(FairShare, WhatWasUsedAHalfLifeAgoCountsHalf) {
  FairShare share(kHour);
  share.add(1, 100, Micros{});
  EXPECT_DOUBLE_EQ(share.usage(1, kHour), 50);
  EXPECT_DOUBLE_EQ(share.usage(1, kHour + kHour), 25);
  EXPECT_DOUBLE_EQ(share.total(1, kHour + kHour), 100);
}

TEST(FairShare, ARateIsBookedUntilItChanges) {
  FairShare share(kHour);
  share.set_rate(0, 7, Micros{});
  share.set_rate(0, 0, Micros::seconds(10));
  EXPECT_DOUBLE_EQ(share.total(0, kHour), 70);
  EXPECT_LT(share.usage(0, Micros::seconds(10)), 70);
  EXPECT_GT(share.usage(0, Micros::seconds(10)), 69.9);
}

// The closed form against many small steps.
TEST(FairShare, UsageAtARateIsTheSumOfWhatIsLeftOfEveryMoment) {
  FairShare share(kHour);
  FairShare steps(kHour);
  share.set_rate(0, 3, Micros{});
  constexpr int kSteps = 100'000;
  for (int i = 0; i < kSteps; ++i) {
    steps.add(0, 3 * 7200.0 / kSteps, Micros{7'200'000'000 / kSteps * i + 36'000});
  }
  EXPECT_NEAR(share.usage(0, kHour + kHour), steps.usage(0, kHour + kHour), 1e-3);
}

TEST(FairShare, AConstantRateIsTheMeanOfLateOnceItHasLastedForLong) {
  FairShare share(kHour);
  share.set_rate(0, 5, Micros{});
  EXPECT_NEAR(share.mean_rate(0, Micros::seconds(100 * 3600)), 5, 1e-9);
  EXPECT_NEAR(share.mean_rate(0, kHour), 2.5, 1e-9);
}

TEST(FairShare, RowsGoOnWhereTheyWereTaken) {
  FairShare share(kHour);
  share.set_rate(2, 4, Micros{});
  share.add(0, 10, Micros::seconds(5));
  const auto rows = share.rows(kHour);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].user, 0U);
  EXPECT_EQ(rows[1].user, 2U);
  FairShare again(kHour);
  again.set_weight(2, 3);
  again.restore(rows);
  EXPECT_EQ(again.rows(kHour), rows);
  EXPECT_EQ(again.weight(2), 3);
  EXPECT_EQ(again.rate(2), 0);
  EXPECT_DOUBLE_EQ(again.usage(2, kHour + kHour), share.usage(2, kHour) / 2);
}

TEST(FairShare, TimeThatGoesBackChangesNothing) {
  FairShare share(kHour);
  share.set_rate(0, 4, kHour);
  EXPECT_EQ(share.usage(0, Micros{}), 0);
  share.set_rate(0, 0, Micros{});
  EXPECT_EQ(share.usage(0, kHour), 0);
}

}  // namespace
}  // namespace partita::decide
