#include "policies/layout_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

std::vector<std::string> parsed(std::uint32_t gpus, std::string_view text) {
  const auto layouts = parse_layout_list(a100(), gpus, text);
  if (!layouts) return {"error: " + layouts.error().message};
  std::vector<std::string> texts;
  for (const mig::Layout& layout : *layouts) texts.push_back(mig::format_layout(a100(), layout));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(LayoutList, OneItemStandsForAllGpus) {
  EXPECT_EQ(parsed(3, "1"), (Texts{"7g.40gb:0", "7g.40gb:0", "7g.40gb:0"}));
  EXPECT_EQ(parsed(2, "4g.20gb:0,3g.20gb:4"),
            (Texts{"4g.20gb:0,3g.20gb:4", "4g.20gb:0,3g.20gb:4"}));
}

TEST(LayoutList, NumbersAreSeparatedByCommasLayoutsBySemicolons) {
  EXPECT_EQ(parsed(2, "1,2"), (Texts{"7g.40gb:0", "4g.20gb:0,3g.20gb:4"}));
  EXPECT_EQ(parsed(2, "1;2"), (Texts{"7g.40gb:0", "4g.20gb:0,3g.20gb:4"}));
  EXPECT_EQ(parsed(2, "4g.20gb:0,3g.20gb:4;1"), (Texts{"4g.20gb:0,3g.20gb:4", "7g.40gb:0"}));
  EXPECT_EQ(parsed(2, " 1 , 2 "), (Texts{"7g.40gb:0", "4g.20gb:0,3g.20gb:4"}));
}

TEST(LayoutList, ALayoutOfNvmlIdsIsOneLayout) {
  EXPECT_EQ(parsed(2, "9:0,9:4"), (Texts{"3g.20gb:0,3g.20gb:4", "3g.20gb:0,3g.20gb:4"}));
  EXPECT_EQ(parsed(2, "9:0,9:4;1"), (Texts{"3g.20gb:0,3g.20gb:4", "7g.40gb:0"}));
}

TEST(LayoutList, AnImpossibleLayoutSaysWhyAndNoMore) {
  EXPECT_EQ(parsed(1, "2g.10gb:4,3g.20gb:4"),
            (Texts{"error: 3g.20gb needs memory slices 4-7; 2g.10gb:4 holds 4-5"}));
}

TEST(LayoutList, TextsMixedWithNumbersByCommasAreToldOfSemicolons) {
  EXPECT_NE(parsed(2, "1,3g.20gb:4")[0].find("separated by semicolons"), std::string::npos);
}

TEST(LayoutList, TheTechnicalReportHasNumbersOfItsOwn) {
  EXPECT_EQ(parsed(2, "t1,t12"), (Texts{"7g.40gb:0", "2g.10gb:0,2g.10gb:2,2g.10gb:4,1g.10gb:6"}));
}

TEST(LayoutList, ACountRepeatsALayout) {
  EXPECT_EQ(parsed(3, "1x2,2"), (Texts{"7g.40gb:0", "7g.40gb:0", "4g.20gb:0,3g.20gb:4"}));
  EXPECT_EQ(parsed(3, "t1x3"), parsed(3, "t1,t1,t1"));
  EXPECT_EQ(parsed(3, "4g.20gb:0,3g.20gb:4x2;1"), parsed(3, "2,2,1"));
  const auto slashed = parse_slashed_layouts(a100(), 3, "1x2/2");
  ASSERT_TRUE(slashed.ok());
  EXPECT_EQ(*slashed, *parse_layout_list(a100(), 3, "1,1,2"));
}

TEST(LayoutList, ACountMustComeToTheNumberOfGpus) {
  EXPECT_EQ(parsed(3, "1x2"),
            (Texts{"error: '1x2' lists 2 layouts for 3 GPUs; give one for each GPU, or one for "
                   "all"}));
  EXPECT_EQ(
      parsed(1, "1x4000000000,2x9000000000000000000,1x9223372036854775807,1x5")[0].substr(0, 6),
      "error:");
  for (const char* bad : {"1x", "1x0", "1x-2", "x3", "1x2x3", "1 x"}) {
    EXPECT_EQ(parsed(3, bad)[0].substr(0, 6), "error:") << bad;
  }
}

TEST(LayoutList, LongRunsAreShownOnceWithTheirCountAndMeanTheSame) {
  std::string ones = "1";
  for (int i = 1; i < 100; ++i) ones += ",1";
  EXPECT_EQ(with_runs("static:" + ones), "static:1x100");
  EXPECT_EQ(with_runs("static:" + ones + ",2,2,12"), "static:1x100,2,2,12");
  EXPECT_EQ(with_runs("static:11," + ones), "static:11,1x100");
  EXPECT_EQ(with_runs("timetable:08:00=" + ones + ",20:00=2"), "timetable:08:00=1x100,20:00=2");
  EXPECT_EQ(with_runs("fifo/static:" + ones), "fifo/static:1x100");
  std::string slashed = ones;
  std::replace(slashed.begin(), slashed.end(), ',', '/');
  EXPECT_EQ(with_runs("lookahead:start=" + slashed + ",every=20"),
            "lookahead:start=1x100,every=20");
  EXPECT_EQ(parsed(103, with_runs(ones + ",2,2,12")), parsed(103, ones + ",2,2,12"));
}

TEST(LayoutList, ShortListsAreShownAsTheyAre) {
  for (const char* rule : {"none", "static:1,1,2,2,2,2,6,10", "static:1,1,1,1,1,1,1,1",
                           "static:4g.20gb:0,3g.20gb:4", "timetable:08:00=9,20:00=2",
                           "learned:models/1/1/1/1/1/1/1/1.safetensors", "static:1x100"}) {
    EXPECT_EQ(with_runs(rule), rule);
  }
}

TEST(LayoutList, AWrongNumberOfItemsIsNamed) {
  EXPECT_EQ(parsed(3, "1,2"),
            (Texts{"error: '1,2' lists 2 layouts for 3 GPUs; give one for each GPU, or one for "
                   "all"}));
}

TEST(LayoutList, AnUnknownNumberNamesTheKnownOnes) {
  EXPECT_EQ(parsed(1, "13"),
            (Texts{"error: a100-40gb has no layout 13; its numbered layouts are 1 to 12"}));
}

TEST(LayoutList, AnImpossibleLayoutSaysWhy) {
  const Texts texts = parsed(1, "4g.20gb:0,4g.20gb:0");
  EXPECT_EQ(texts.front().substr(0, 6), "error:");
}

TEST(LayoutList, EmptyTextIsRefused) {
  EXPECT_EQ(parsed(1, "").front().substr(0, 6), "error:");
}

}  // namespace
}  // namespace partita::policies
