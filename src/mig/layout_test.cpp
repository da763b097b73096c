#include "mig/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>

#include "mig/enumerate.h"

namespace partita::mig {
namespace {

constexpr ProfileFamilies kAllFamilies{.double_memory = true, .media = true};

const GpuModel& gpu(std::string_view name) {
  return **find_gpu(name);
}

// The layout as text, or the error's sentence.
std::string parsed(const GpuModel& model, std::string_view text) {
  const Result<Layout> layout = parse_layout(model, text);
  return layout ? format_layout(model, *layout) : layout.error().message;
}

TEST(Layout, PrintsWhatItParses) {
  for (const GpuModel* model : catalogue()) {
    for (const Layout& layout : legal_layouts(*model, kAllFamilies)) {
      const std::string text = format_layout(*model, layout);
      const Result<Layout> again = parse_layout(*model, text);
      ASSERT_TRUE(again.ok()) << model->key << " " << text << ": " << again.error().message;
      EXPECT_EQ(*again, layout) << model->key << " " << text;
      EXPECT_EQ(*parse_layout_reference(*model, text), layout) << model->key << " " << text;
    }
  }
}

TEST(Layout, IsKeptInOrderOfStart) {
  const GpuModel& a100 = gpu("a100");
  EXPECT_EQ(parsed(a100, "3g.20gb:4,1g.5gb:2,2g.10gb:0"), "2g.10gb:0,1g.5gb:2,3g.20gb:4");
  EXPECT_EQ(*parse_layout(a100, "3g.20gb:4,4g.20gb:0"), *parse_layout(a100, "4g.20gb:0,3g.20gb:4"));
}

TEST(Layout, AcceptsTheFormsOfNvidiaSmi) {
  const GpuModel& a100 = gpu("a100");
  EXPECT_EQ(parsed(a100, "9:4,14:0"), "2g.10gb:0,3g.20gb:4");
  EXPECT_EQ(parsed(a100, " MIG 4g.20gb:0 , mig-3g.20gb : 4 "), "4g.20gb:0,3g.20gb:4");
  EXPECT_EQ(parsed(a100, "1g.5gb.me:3"), "1g.5gb+me:3");
  EXPECT_EQ(parsed(a100, "EMPTY"), "empty");
}

TEST(Layout, IsEqualAndHashesEquallyAfterAnyOrderOfAdditionsAndRemovals) {
  const GpuModel& a100 = gpu("a100");
  for (const Layout& layout : legal_layouts(a100, kAllFamilies)) {
    const std::vector<Placement> placed(layout.instances().begin(), layout.instances().end());
    Layout other;
    for (auto it = placed.rbegin(); it != placed.rend(); ++it) other.add(*it);
    if (!placed.empty()) {
      other.remove(placed.front());
      EXPECT_NE(other, layout);
      other.add(placed.front());
    }
    EXPECT_EQ(other, layout);
    EXPECT_EQ(std::hash<Layout>()(other), std::hash<Layout>()(layout));
  }
}

TEST(Layout, HashTellsAllLayoutsOfAGpuApart) {
  std::unordered_set<std::size_t> hashes;
  const std::vector<Layout> layouts = legal_layouts(gpu("a100"), kAllFamilies);
  for (const Layout& layout : layouts) hashes.insert(std::hash<Layout>()(layout));
  EXPECT_EQ(hashes.size(), layouts.size());
}

TEST(Layout, FindsAnInstanceByItsFirstSliceOnly) {
  const GpuModel& a100 = gpu("a100");
  const Layout layout = *parse_layout(a100, "4g.20gb:0,3g.20gb:4");
  EXPECT_EQ(format_placement(a100, *layout.at(4)), "3g.20gb:4");
  EXPECT_FALSE(layout.at(5));
  EXPECT_TRUE(layout.contains(*layout.at(0)));
  EXPECT_FALSE(layout.contains({layout.at(0)->profile, 4}));
}

TEST(Layout, NeverHasMoreInstancesOrComputeSlicesThanTheGpu) {
  for (const GpuModel* model : catalogue()) {
    for (const Layout& layout : legal_layouts(*model, kAllFamilies)) {
      ASSERT_LE(compute_slices_used(*model, layout), model->compute_slices);
      for (std::size_t i = 0; i < model->profiles.size(); ++i) {
        const auto same = [&](Placement p) { return p.profile == i; };
        ASSERT_LE(std::ranges::count_if(layout.instances(), same), model->profiles[i].instances_max)
            << model->key << " " << format_layout(*model, layout);
      }
    }
  }
}

TEST(Layout, CountsMemoryAndComputeSlices) {
  const GpuModel& a100 = gpu("a100");
  const Layout layout = *parse_layout(a100, "3g.20gb:0,2g.10gb:4,1g.5gb:6");
  EXPECT_EQ(memory_mask(a100, layout), 0b0111'1111);
  EXPECT_EQ(memory_mask(a100, *layout.at(4)), 0b0011'0000);
  EXPECT_EQ(compute_slices_used(a100, layout), 6);
  EXPECT_EQ(memory_mask(a100, Layout()), 0);
}

TEST(LayoutDeathTest, AddingWhereAnInstanceStartsIsOurBug) {
  Layout layout;
  layout.add({0, 3});
  EXPECT_DEATH(layout.add({1, 3}), "layout.cpp");
  EXPECT_DEATH(layout.remove({1, 3}), "layout.cpp");
}

TEST(WhyNot, NamesTheSlicesAndTheirHolders) {
  const GpuModel& a100 = gpu("a100");
  EXPECT_EQ(parsed(a100, "2g.10gb:4,3g.20gb:4"),
            "3g.20gb needs memory slices 4-7; 2g.10gb:4 holds 4-5");
  EXPECT_EQ(parsed(a100, "2g.10gb:4,1g.5gb:6,3g.20gb:4"),
            "3g.20gb needs memory slices 4-7; 2g.10gb:4 holds 4-5, 1g.5gb:6 holds 6");
  EXPECT_EQ(parsed(a100, "7g.40gb:0,1g.5gb:3"), "1g.5gb needs memory slice 3; 7g.40gb:0 holds 0-7");
  EXPECT_EQ(parsed(a100, "1g.5gb:0,1g.5gb:0"), "1g.5gb needs memory slice 0; 1g.5gb:0 holds 0");
}

TEST(WhyNot, ListsTheLegalStarts) {
  EXPECT_EQ(parsed(gpu("a100"), "3g.20gb:2"),
            "3g.20gb cannot start at memory slice 2; its legal starts are 0, 4");
  EXPECT_EQ(parsed(gpu("a100"), "2g.10gb:6"),
            "2g.10gb cannot start at memory slice 6; its legal starts are 0, 2, 4");
  EXPECT_EQ(parsed(gpu("a30"), "4g.24gb:1"),
            "4g.24gb cannot start at memory slice 1; its legal start is 0");
}

TEST(WhyNot, SaysThatThereIsOnlyOneMediaInstance) {
  EXPECT_EQ(parsed(gpu("a100"), "1g.5gb+me:0,1g.5gb+me:1"),
            "1g.5gb+me:1 is a second +me instance; a GPU takes at most one, and 1g.5gb+me:0 is "
            "there");
  EXPECT_EQ(parsed(gpu("a30"), "1g.6gb+me:0,2g.12gb+me:2"),
            "2g.12gb+me:2 is a second +me instance; a GPU takes at most one, and 1g.6gb+me:0 is "
            "there");
}

TEST(WhyNot, HasNothingToSayExactlyWhenThePlacementFits) {
  for (const char* key : {"a30", "a100"}) {
    const GpuModel& model = gpu(key);
    for (const Layout& layout : legal_layouts(model, kAllFamilies)) {
      for (std::size_t i = 0; i < model.profiles.size(); ++i) {
        for (std::uint8_t start = 0; start < kMemorySlicesMax; ++start) {
          const Placement placement{static_cast<ProfileIndex>(i), start};
          ASSERT_EQ(fits(model, layout, placement), !why_not(model, layout, placement));
        }
      }
    }
  }
}

TEST(ParseLayout, RefusesAMissingOrImpossibleStart) {
  EXPECT_EQ(parsed(gpu("a100"), "3g.20gb"),
            "'3g.20gb' has no start (as in 3g.20gb:0); its legal starts are 0, 4");
  EXPECT_EQ(parsed(gpu("a100"), "4g.20gb:x"), "4g.20gb cannot start at 'x'; its legal start is 0");
  EXPECT_EQ(parsed(gpu("a100"), "3g.20gb:"),
            "3g.20gb cannot start at ''; its legal starts are 0, 4");
  EXPECT_EQ(parsed(gpu("a100"), "3g.20gb:-4"),
            "3g.20gb cannot start at '-4'; its legal starts are 0, 4");
  EXPECT_EQ(parsed(gpu("a100"), "3g.20gb:260"),
            "3g.20gb cannot start at '260'; its legal starts are 0, 4");
}

TEST(ParseLayout, RefusesUnknownProfilesAndEmptyText) {
  const std::string known = "; known: 1g.6gb, 1g.6gb+me, 2g.12gb, 2g.12gb+me, 4g.24gb";
  EXPECT_EQ(parsed(gpu("a30"), "3g.20gb:0"), "unknown a30-24gb profile '3g.20gb'" + known);
  EXPECT_EQ(parsed(gpu("a30"), "1g.6gb:0,"), "unknown a30-24gb profile ''" + known);
  EXPECT_EQ(parsed(gpu("a30"), "1g.6gb:0,empty"), "unknown a30-24gb profile 'empty'" + known);
  EXPECT_EQ(parsed(gpu("a30"), "  "),
            "a layout is a list of profile:start, like '1g.6gb:0,1g.6gb:1', or 'empty'");
}

}  // namespace
}  // namespace partita::mig
