#include "base/text.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace partita {
namespace {

TEST(Text, SecondsAreReadToTheMicrosecond) {
  EXPECT_EQ(parse_seconds("0.1")->count, 100'000);
  EXPECT_EQ(parse_seconds("86399.999999")->count, 86'399'999'999);
  EXPECT_EQ(parse_seconds("1e3")->count, 1'000'000'000);
  EXPECT_EQ(parse_seconds("0.00000049")->count, 0);
  EXPECT_EQ(parse_seconds("-2.5")->count, -2'500'000);
}

TEST(Text, WhatIsNoFiniteNumberIsNoTime) {
  for (const char* text :
       {"", ".", "nan", "NaN", "inf", "-inf", "1e999", "1e300", "3x", "0x10", " 1", "1,5"}) {
    EXPECT_FALSE(parse_seconds(text).has_value()) << text;
  }
}

TEST(Text, PrintedSecondsReadBackToTheSameMicrosecond) {
  Rng rng(1);
  for (int i = 0; i < 10'000; ++i) {
    const Micros time{static_cast<std::int64_t>(rng.below(1'000'000'000'000'000))};
    EXPECT_EQ(parse_seconds(format_seconds(time)), time);
  }
  EXPECT_EQ(format_seconds(Micros{-1'500'000}), "-1.5");
}

TEST(Text, AnUnknownNameListsTheKnownOnes) {
  const std::vector<std::string> known{"fifo", "edf"};
  EXPECT_EQ(unknown_name("scheduler", "fofi", known).message,
            "unknown scheduler 'fofi'; known: fifo, edf");
}

}  // namespace
}  // namespace partita
