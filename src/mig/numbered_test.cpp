#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "mig/layout.h"
#include "mig/test_support.h"

namespace partita::mig {
namespace {

// The layout as text, or the error's sentence.
std::string referred(const GpuModel& model, std::string_view text) {
  const Result<Layout> layout = parse_layout_reference(model, text);
  return layout ? format_layout(model, *layout) : layout.error().message;
}

TEST(NumberedLayout, IsThePapersTable) {
  const std::array<const char*, 12> papers = {
      "7g.40gb:0",
      "4g.20gb:0,3g.20gb:4",
      "4g.20gb:0,2g.10gb:4,1g.10gb:6",
      "4g.20gb:0,1g.5gb:4,1g.5gb:5,1g.10gb:6",
      "3g.20gb:0,3g.20gb:4",
      "2g.10gb:0,2g.10gb:2,3g.20gb:4",
      "2g.10gb:0,1g.5gb:2,1g.5gb:3,3g.20gb:4",
      "1g.5gb:0,1g.5gb:1,1g.5gb:2,1g.5gb:3,3g.20gb:4",
      "2g.10gb:0,2g.10gb:2,2g.10gb:4,1g.10gb:6",
      "2g.10gb:0,2g.10gb:2,1g.5gb:4,1g.5gb:5,1g.10gb:6",
      "2g.10gb:0,1g.5gb:2,1g.5gb:3,1g.5gb:4,1g.5gb:5,1g.10gb:6",
      "1g.5gb:0,1g.5gb:1,1g.5gb:2,1g.5gb:3,1g.5gb:4,1g.5gb:5,1g.10gb:6",
  };
  ASSERT_EQ(numbered_layouts_count(gpu("a100")), 12);
  for (int number = 1; number <= 12; ++number) {
    EXPECT_EQ(referred(gpu("a100"), std::to_string(number)),
              papers[static_cast<std::size_t>(number - 1)]);
  }
}

TEST(NumberedLayout, UsesAllMemorySlices) {
  for (const char* key : {"a100-40gb", "a100-80gb", "h100", "h200", "b200"}) {
    for (int number = 1; number <= 12; ++number) {
      const Layout layout = *numbered_layout(gpu(key), number);
      EXPECT_EQ(memory_mask(gpu(key), layout), 0xff) << key << " " << number;
      EXPECT_EQ(compute_slices_used(gpu(key), layout), number == 5 ? 6 : 7) << key << " " << number;
    }
  }
}

TEST(NumberedLayout, HasTheSameShapeOnASibling) {
  EXPECT_EQ(referred(gpu("h200"), "3"), "4g.71gb:0,2g.35gb:4,1g.35gb:6");
  EXPECT_EQ(referred(gpu("b200"), "2"), "4g.90gb:0,3g.90gb:4");
}

TEST(NumberedLayout, IsAMaximalPlainLayoutOnTheA30) {
  const GpuModel& a30 = gpu("a30");
  ASSERT_EQ(numbered_layouts_count(a30), 5);
  EXPECT_EQ(referred(a30, "1"), "4g.24gb:0");
  EXPECT_EQ(referred(a30, "2"), "2g.12gb:0,2g.12gb:2");
  EXPECT_EQ(referred(a30, "3"), "2g.12gb:0,1g.6gb:2,1g.6gb:3");
  EXPECT_EQ(referred(a30, "4"), "1g.6gb:0,1g.6gb:1,2g.12gb:2");
  EXPECT_EQ(referred(a30, "5"), "1g.6gb:0,1g.6gb:1,1g.6gb:2,1g.6gb:3");
}

TEST(NumberOf, IsTheInverse) {
  for (const GpuModel* model : catalogue()) {
    for (int number = 1; number <= numbered_layouts_count(*model); ++number) {
      EXPECT_EQ(number_of(*model, *numbered_layout(*model, number)), number) << model->key;
    }
    EXPECT_FALSE(number_of(*model, Layout())) << model->key;
  }
  EXPECT_FALSE(number_of(gpu("a100"), *parse_layout(gpu("a100"), "4g.20gb:0")));
}

TEST(TechReportLayout, HasTheReportsMultisets) {
  const std::array<const char*, 19> report = {
      "7",           "4 3",         "4 2 d",       "4 1 1 1",      "3 3",
      "3 2 d",       "3 d 1 1",     "2 2 3",       "2 1 1 3",      "1 1 2 3",
      "1 1 1 1 3",   "2 2 2 d",     "2 1 1 2 d",   "1 1 2 2 d",    "2 d 1 1 1 1",
      "1 1 2 d 1 1", "1 1 d 1 2 1", "1 1 d 1 1 2", "1 1 1 1 1 1 1"};
  const GpuModel& a100 = gpu("a100");
  for (int number = 1; number <= 19; ++number) {
    std::vector<ProfileIndex> mix;
    for (const char c : std::string(report[static_cast<std::size_t>(number - 1)])) {
      if (c == ' ') continue;
      const char* name = c == '1'   ? "1g.5gb"
                         : c == 'd' ? "1g.10gb"
                         : c == '2' ? "2g.10gb"
                         : c == '3' ? "3g.20gb"
                         : c == '4' ? "4g.20gb"
                                    : "7g.40gb";
      mix.push_back(*parse_profile(a100, name));
    }
    std::ranges::sort(mix);
    EXPECT_EQ(mix_of(*tech_report_layout(a100, number)), mix) << number;
  }
}

TEST(TechReportLayout, KeepsTheReportsOrderWhereThatIsPlaceable) {
  EXPECT_EQ(referred(gpu("a100"), "t10"), "1g.5gb:0,1g.5gb:1,2g.10gb:2,3g.20gb:4");
  EXPECT_EQ(referred(gpu("a100"), "T13"), "2g.10gb:0,1g.5gb:2,1g.5gb:3,2g.10gb:4,1g.10gb:6");
  EXPECT_EQ(referred(gpu("a100"), "t7"), "3g.20gb:0,1g.5gb:4,1g.5gb:5,1g.10gb:6");
}

TEST(LayoutReference, AcceptsEmptyAndALayoutText) {
  EXPECT_EQ(referred(gpu("a100"), "empty"), "empty");
  EXPECT_EQ(referred(gpu("a100"), " 3g.20gb:4 "), "3g.20gb:4");
}

TEST(LayoutReference, AnUnknownNumberNamesTheRange) {
  EXPECT_EQ(referred(gpu("a100"), "13"),
            "a100-40gb has no layout 13; its numbered layouts are 1 to 12");
  EXPECT_EQ(referred(gpu("a30"), "0"), "a30-24gb has no layout 0; its numbered layouts are 1 to 5");
  EXPECT_EQ(referred(gpu("a100"), "-1"),
            "a100-40gb has no layout -1; its numbered layouts are 1 to 12");
  EXPECT_EQ(referred(gpu("h200"), "t20"),
            "h200-141gb has no layout t20; its numbered layouts are t1 to t19");
  EXPECT_EQ(referred(gpu("a30"), "t1"),
            "a30-24gb has no layout t1; the technical report's are for GPUs with 7 compute slices");
  EXPECT_FALSE(parse_layout_reference(gpu("a100"), "99999999999999999999").ok());
  EXPECT_FALSE(parse_layout_reference(gpu("a100"), "t").ok());
  EXPECT_FALSE(parse_layout_reference(gpu("a100"), "").ok());
}

}  // namespace
}  // namespace partita::mig
