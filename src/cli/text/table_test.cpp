#include "cli/text/table.h"

#include <gtest/gtest.h>

#include "cli/output/progress_bar.h"
#include "cli/text/layout_picture.h"

namespace partita::cli {
namespace {

TEST(Table, ColumnsAreAlignedAndLinesHaveNoBlanksAtTheEnd) {
  Table table({{"a", Align::kLeft}, {"bb", Align::kRight}, {"c", Align::kLeft}});
  table.add({"1·2", "3", ""});
  table.add({"1", "456", "x"});
  EXPECT_EQ(table.text(false), "a     bb  c\n1·2    3\n1    456  x\n");
}

TEST(Table, OnlyTheHeadIsBold) {
  Table table({{"a", Align::kLeft}});
  table.add({"b"});
  EXPECT_EQ(table.text(true), "\x1b[1ma\x1b[0m\nb\n");
}

TEST(Numbers, HaveCommas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1'000), "1,000");
  EXPECT_EQ(with_commas(1'234'567), "1,234,567");
  EXPECT_EQ(shown_number(1e6), "1,000,000");
  EXPECT_EQ(shown_number(0.25), "0.25");
}

TEST(LayoutPicture, IsAsWideAsTheMemoryOfTheGpu) {
  const mig::GpuModel& a100 = **mig::find_gpu("a100-40gb");
  const auto picture = [&](std::string_view text) {
    return layout_picture(a100, *mig::parse_layout(a100, text));
  };
  EXPECT_EQ(picture("4g.20gb:0,3g.20gb:4"), "|4g.20gb        |3g.20gb        |");
  EXPECT_EQ(picture("2g.10gb:0,1g.5gb:2"), "|2g.10gb|1g | . | . | . | . | . |");
  EXPECT_EQ(picture("7g.40gb:0"), "|7g.40gb                        |");
}

TEST(ProgressLine, SaysWhatIsDoneAndWhatIsLeft) {
  EXPECT_EQ(progress_line("reading", 0.5, 3),
            "reading  50 % [###############...............] 3 s left");
  EXPECT_EQ(progress_line("reading", 1, 3),
            "reading 100 % [##############################] 0 s left");
  EXPECT_EQ(progress_line("reading", -1, 3), "reading: 3 s");
}

}  // namespace
}  // namespace partita::cli
