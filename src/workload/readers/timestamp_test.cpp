#include "workload/readers/timestamp.h"

#include <gtest/gtest.h>

namespace partita::workload {
namespace {

TEST(Timestamp, DatesAreCountedFrom1970) {
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:00"), Micros{0});
  EXPECT_EQ(parse_timestamp("2017-10-09 07:01:55"), Micros::seconds(1507532515));
  EXPECT_EQ(parse_timestamp("2024-02-29T23:59:59Z"), Micros::seconds(1709251199));
  EXPECT_EQ(parse_timestamp("1969-12-31 23:59:59"), Micros::seconds(-1));
}

TEST(Timestamp, DecimalsAreCutToMicroseconds) {
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:01.9799609"), Micros{1'979'960});
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:01.5+00:00"), Micros{1'500'000});
}

TEST(Timestamp, WhatIsNoDateIsRefused) {
  for (const char* text :
       {"", "x", "2017-10-09", "2017-13-09 07:01:55", "2017-02-29 07:01:55", "2017-10-09 24:00:00",
        "2017-10-09 07:60:00", "2017-10-09 07:01:55.", "2017-10-09 07:01:55x", "17-10-09 07:01:55",
        "2017-10-09 07:01:55+02:00", "2017/10/09 07:01:55", "-017-10-09 07:01:55"}) {
    EXPECT_FALSE(parse_timestamp(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace partita::workload
