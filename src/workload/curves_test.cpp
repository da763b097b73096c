#include "workload/curves.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace partita::workload {
namespace {

const Curve& curve(std::string_view name) {
  return **find_curve(name);
}

TEST(Curves, AreSortedByNameAndEachHasASourceAndAWholeGpuFigure) {
  const auto all = curves();
  EXPECT_EQ(all.size(), 4U + 32U + 12U);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const Curve& a, const Curve& b) { return a.name < b.name; }));
  for (const Curve& each : all) {
    EXPECT_FALSE(each.source.empty());
    EXPECT_TRUE(each.throughput.back().has_value());
    EXPECT_LE(each.memory_above_gib, each.memory_gib);
    EXPECT_LE(each.memory_gib, each.memory_at_most_gib);
  }
}

TEST(Curves, ThePapersFourHaveThePapersRatios) {
  EXPECT_NEAR(1 / *curve("bert-inference").relative(0), 7, 1e-12);
  EXPECT_NEAR(1 / *curve("resnet-inference").relative(0), 5.75, 1e-12);
  EXPECT_NEAR(1 / *curve("bert-training").relative(0), 4.773, 5e-4);
  EXPECT_NEAR(1 / *curve("resnet-training").relative(3), 1.161, 5e-4);
}

TEST(Curves, MisoFiguresAreThoseOfItsTable) {
  EXPECT_NEAR(*curve("miso-mobilenet-b64").relative(0), .81, .005);
  EXPECT_NEAR(*curve("miso-resnet-b512").relative(3), .75, .005);
  EXPECT_NEAR(*curve("miso-transformer-b128").relative(2), .51, .005);
}

TEST(Curves, WhatDidNotFitASliceHasNoFigureThereAndNeedsMoreMemory) {
  const Curve& bert = curve("miso-bert-b2");
  EXPECT_FALSE(bert.relative(0).has_value());
  EXPECT_GT(bert.memory_gib, 4.75);
  EXPECT_LE(bert.memory_gib, 9.62);
  const Curve& large = curve("miso-transformer-b128");
  EXPECT_FALSE(large.relative(1).has_value());
  EXPECT_GT(large.memory_gib, 9.62);
  EXPECT_LT(curve("miso-resnet-b64").memory_gib, 4.75);
}

TEST(Curves, H200FiguresAreThoseOfTheCalibration) {
  const Curve& train = curve("h200-resnet50_train_b128");
  EXPECT_EQ(train.kind, CurveKind::kTraining);
  EXPECT_NEAR(*train.relative(0), 0.1927, 5e-5);
  EXPECT_NEAR(*train.relative(3), 0.6269, 5e-5);
  EXPECT_NEAR(*train.relative(2), 0.5075 + 0.75 * (0.6269 - 0.5075), 1e-4);
}

TEST(Curves, AnUnknownNameListsTheKnownOnes) {
  const std::string message = find_curve("gpt").error().message;
  EXPECT_TRUE(message.starts_with("unknown speed-up curve 'gpt'; known: bert-inference, "))
      << message;
}

TEST(Curves, TimesFollowTheThroughput) {
  const auto times = times_on_slices(curve("resnet-inference"), 1, 57.5);
  EXPECT_EQ(times[0], Micros{57'500'000});
  EXPECT_EQ(times[1], Micros{28'750'000});
  EXPECT_EQ(times[4], Micros{10'000'000});
  EXPECT_EQ(times_on_slices(curve("miso-bert-b2"), 7, 1)[0], kNoTime);
}

TEST(Curves, NoTimeIsBelowOneMicrosecondOrAboveTheLimit) {
  for (const Micros time : times_on_slices(curve("bert-inference"), 1, 0))
    EXPECT_EQ(time, Micros{1});
  for (const Micros time : times_on_slices(curve("bert-inference"), 1, 1e15)) {
    EXPECT_EQ(time, micros_from_seconds(kJobSecondsMax));
  }
}

}  // namespace
}  // namespace partita::workload
