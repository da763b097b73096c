#include "cli/flags/value_parsers.h"

#include <gtest/gtest.h>

namespace partita::cli {
namespace {

TEST(Span, IsTwoFiniteNumbersInOrder) {
  EXPECT_EQ(parse_span("1.0:1.5")->high, 1.5);
  EXPECT_EQ(parse_span("2:2")->low, 2);
  for (const char* bad : {"", ":", "1", "1:", ":1", "2:1", "nan:1", "1:inf", "1:2:3", "a:b"}) {
    EXPECT_FALSE(parse_span(bad).ok()) << bad;
  }
}

TEST(Preemption, ReadsWhatItWrites) {
  for (const char* text :
       {"free", "none", "cost=30", "cost=0.5", "cost=0", "pays=30", "pays=0.5", "pays=0"}) {
    const auto preemption = parse_preemption(text);
    ASSERT_TRUE(preemption.ok()) << text;
    EXPECT_EQ(format_preemption(*preemption), text);
  }
  for (const char* bad : {"", "Free", "cost", "cost=", "cost=-1", "cost=nan", "cost=1e13", "pays",
                          "pays=", "pays=-1", "pays=x"}) {
    EXPECT_FALSE(parse_preemption(bad).ok()) << bad;
  }
}

TEST(ReserveAfter, ReadsWhatItWrites) {
  for (const char* text : {"off", "600", "0", "0.5"}) {
    const auto after = parse_reserve_after(text);
    ASSERT_TRUE(after.ok()) << text;
    EXPECT_EQ(format_reserve_after(*after), text);
  }
  for (const char* bad : {"", "on", "-1", "nan", "1e13", "5m"}) {
    EXPECT_FALSE(parse_reserve_after(bad).ok()) << bad;
  }
}

TEST(FairShare, ReadsWhatItWrites) {
  for (const char* text : {"off", "priority", "slice-seconds", "joules"}) {
    const auto order = parse_fair_share(text);
    ASSERT_TRUE(order.ok()) << text;
    EXPECT_EQ(format_fair_share(*order), text);
  }
  EXPECT_FALSE(parse_fair_share("watts").ok());
}

TEST(Shares, AreAboveZeroAndOnceForEachUser) {
  const auto shares = parse_shares("alice=2, bob=0.5");
  ASSERT_TRUE(shares.ok());
  EXPECT_EQ(shares->at(1), (std::pair<std::string, double>{"bob", 0.5}));
  for (const char* bad : {"", "alice", "=2", "alice=", "alice=0", "alice=-1", "alice=nan",
                          "alice=1,alice=2", "alice=1,"}) {
    EXPECT_FALSE(parse_shares(bad).ok()) << bad;
  }
}

TEST(Numbers, MustBeAsManyAsWanted) {
  EXPECT_EQ(parse_numbers("1, 2,3", 3, 10)->size(), 3U);
  for (const char* bad : {"", "1,2", "1,2,3,4", "1,2,11", "1,2,-1", "1,,2", "1,2,nan"}) {
    EXPECT_FALSE(parse_numbers(bad, 3, 10).ok()) << bad;
  }
}

TEST(Schedulers, AllAreSeventeenAndCompositionsAreWelcome) {
  EXPECT_EQ(parse_schedulers("all")->size(), 17U);
  EXPECT_EQ(parse_schedulers("cedf, mdd+fastest")->at(1), "mdd+fastest");
  for (const char* bad : {"", "cedf,", "cedf,cedf", "all,cedf", "nope"}) {
    EXPECT_FALSE(parse_schedulers(bad).ok()) << bad;
  }
}

TEST(EarlyRestart, IsOffOnOrAPartOfTheRule) {
  EXPECT_FALSE(parse_early_restart("off")->has_value());
  EXPECT_EQ((*parse_early_restart("on"))->window, decide::EarlyRestart{}.window);
  const auto rule = parse_early_restart("z=1.5,window=7");
  ASSERT_TRUE(rule.ok());
  EXPECT_EQ((*rule)->z, 1.5);
  EXPECT_EQ((*rule)->window, 7U);
  EXPECT_EQ(parse_early_restart(format_early_restart(*rule)).ok(), true);
  for (const char* wrong : {"", "maybe", "z", "z=-1", "least=2", "confirmations=0", "window=x"}) {
    EXPECT_FALSE(parse_early_restart(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace partita::cli
