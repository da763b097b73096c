#include "policies/repartitioners/lookahead_spec.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

std::string error_of(const char* text) {
  const auto options = parse_lookahead(text, a100(), 2);
  return options.ok() ? "" : options.error().message;
}

TEST(LookaheadSpec, EmptyTextGivesTheDefaults) {
  const auto options = parse_lookahead("", a100(), 3);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->start, std::vector<mig::Layout>(3, *mig::numbered_layout(a100(), 2)));
  EXPECT_EQ(options->candidates.size(), 12U);
  EXPECT_EQ(options->samples, LookaheadOptions{}.samples);
}

TEST(LookaheadSpec, EveryKeyIsRead) {
  const auto options = parse_lookahead(
      "start=1/4g.20gb:0;3g.20gb:4,horizon=60,samples=2,every=7,moves=3,finalists=5,caution=0.5,"
      "budget_us=10,seed=9,profile=papers",
      a100(), 2);
  EXPECT_FALSE(options.ok()) << "a layout text has commas of its own";
  const auto plain = parse_lookahead(
      "start=1/"
      "6,horizon=60,screen=30,margin=1.5,samples=2,every=7,rest=4,moves=3,wide=6,finalists=5,"
      "caution=0.5,budget_us=10,fleet=32,seed=9,profile=papers,samples_max=8,evidence=0.2,"
      "loss_max=3",
      a100(), 2);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->samples_max, 8);
  EXPECT_EQ(plain->evidence, 0.2);
  EXPECT_DOUBLE_EQ(plain->loss_max, 0.03);
  EXPECT_EQ(plain->start[1], *mig::numbered_layout(a100(), 6));
  EXPECT_EQ(plain->horizon, Micros::seconds(60));
  EXPECT_EQ(plain->margin, 1.5);
  EXPECT_EQ(plain->screen, Micros::seconds(30));
  EXPECT_EQ(plain->every_events, 7U);
  EXPECT_EQ(plain->rest, 4);
  EXPECT_EQ(plain->wide, 6);
  EXPECT_EQ(plain->fleet, 32);
  EXPECT_EQ(plain->budget_events, 30U);
  EXPECT_GT(plain->profile[10], 1.2);
}

TEST(LookaheadSpec, AThousandPerCentOfLossIsNotWatchedAndAtLeastTheSamplesAreDrawn) {
  const auto options = parse_lookahead("loss_max=1000,samples=20", a100(), 2);
  ASSERT_TRUE(options.ok());
  EXPECT_LT(options->loss_max, 0);
  EXPECT_EQ(options->samples_max, 20);
}

TEST(LookaheadSpec, MistakesNameTheKeyAndWhatWasWanted) {
  EXPECT_EQ(error_of("horison=3"),
            "unknown key of lookahead 'horison'; known: start, profile, horizon, screen, margin, "
            "samples, samples_max, fleet, every, rest, wide, moves, finalists, caution, evidence, "
            "budget_us, loss_max, seed");
  EXPECT_EQ(
      error_of("samples=0"),
      "lookahead key samples (futures in which changes race, 4): found '0', wanted a number from 1 "
      "to 1000");
  EXPECT_EQ(error_of("samples"),
            "lookahead option 'samples' is not KEY=VALUE; keys: start, profile, horizon, screen, "
            "margin, samples, samples_max, fleet, every, rest, wide, moves, finalists, caution, "
            "evidence, "
            "budget_us, loss_max, seed");
  EXPECT_NE(error_of("start=1/2/3").find("3 layouts for 2 GPUs"), std::string::npos);
}

}  // namespace
}  // namespace partita::policies
