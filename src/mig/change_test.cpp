#include "mig/change.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/rng.h"
#include "mig/enumerate.h"
#include "mig/test_support.h"

namespace partita::mig {
namespace {

Layout layout_of(const GpuModel& model, std::string_view text) {
  return *parse_layout(model, text);
}

std::vector<Placement> placements(const Layout& layout) {
  return {layout.instances().begin(), layout.instances().end()};
}

std::string steps_text(const GpuModel& model, const LayoutChange& change) {
  std::string text;
  for (const ChangeStep& step : change.steps) {
    text += step.kind == ChangeStep::Kind::kCreate ? " +" : " -";
    text += format_placement(model, step.placement);
  }
  return text;
}

// Replays the steps, failing on the first that is not legal or that leaves a creation waiting
// although it could be made before the next destruction.
void expect_good_change(const GpuModel& model, const Layout& from, const Layout& to) {
  const LayoutChange change = smallest_change(model, from, to);
  SCOPED_TRACE(format_layout(model, from) + " to " + format_layout(model, to) + ":" +
               steps_text(model, change));
  std::vector<Placement> kept;
  for (const Placement p : placements(from)) {
    if (std::ranges::count(placements(to), p) != 0) kept.push_back(p);
  }
  EXPECT_EQ(change.kept, kept);
  Layout now = from;
  Micros total;
  for (const ChangeStep& step : change.steps) {
    const ChangeSeconds seconds = model.change_seconds[step.placement.profile];
    total += step.duration;
    if (step.kind == ChangeStep::Kind::kCreate) {
      ASSERT_EQ(why_not(model, now, step.placement), std::nullopt);
      EXPECT_EQ(step.duration, micros_from_seconds(seconds.create));
      now.add(step.placement);
      continue;
    }
    for (const Placement wanted : placements(to)) {
      ASSERT_TRUE(now.contains(wanted) || why_not(model, now, wanted))
          << format_placement(model, wanted) << " could have been created earlier";
    }
    ASSERT_TRUE(now.contains(step.placement));
    EXPECT_EQ(step.duration, micros_from_seconds(seconds.destroy));
    now.remove(step.placement);
  }
  EXPECT_EQ(now, to);
  EXPECT_EQ(change.total_duration(), total);
}

TEST(SmallestChange, IsLegalAndEagerBetweenAllPlainLayouts) {
  const GpuModel& a100 = gpu("a100");
  const std::vector<Layout> layouts = legal_layouts(a100, {});
  for (const Layout& from : layouts) {
    for (const Layout& to : layouts) expect_good_change(a100, from, to);
    if (HasFailure()) return;
  }
}

TEST(SmallestChange, IsLegalAndEagerBetweenLayoutsWithMediaAndDoubleMemory) {
  for (const char* key : {"a30", "a100"}) {
    const std::vector<Layout> layouts = legal_layouts(gpu(key), kBothFamilies);
    Rng rng(7);
    for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
      expect_good_change(gpu(key), layouts[rng.below(layouts.size())],
                         layouts[rng.below(layouts.size())]);
    }
  }
}

// Fewest creations and destructions between any two legal layouts, by breadth-first search over
// single steps.
TEST(SmallestChange, HasTheFewestStepsThereAre) {
  const GpuModel& a100 = gpu("a100");
  const std::vector<Layout> layouts = legal_layouts(a100, {});
  std::unordered_map<Layout, std::size_t> index;
  for (std::size_t i = 0; i < layouts.size(); ++i) index[layouts[i]] = i;
  std::vector<std::vector<std::size_t>> neighbours(layouts.size());
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    for (const Placement placement : layouts[i].instances()) {
      Layout smaller = layouts[i];
      smaller.remove(placement);
      neighbours[i].push_back(index.at(smaller));
      neighbours[index.at(smaller)].push_back(i);
    }
  }
  for (std::size_t from = 0; from < layouts.size(); ++from) {
    std::vector<std::size_t> steps(layouts.size(), layouts.size());
    steps[from] = 0;
    std::deque<std::size_t> queue = {from};
    while (!queue.empty()) {
      const std::size_t at = queue.front();
      queue.pop_front();
      for (const std::size_t next : neighbours[at]) {
        if (steps[next] != layouts.size()) continue;
        steps[next] = steps[at] + 1;
        queue.push_back(next);
      }
    }
    for (std::size_t to = 0; to < layouts.size(); ++to) {
      ASSERT_EQ(smallest_change(a100, layouts[from], layouts[to]).steps.size(), steps[to]);
    }
  }
}

TEST(SmallestChange, CreatesInFreeSlicesBeforeItDestroys) {
  const GpuModel& a100 = gpu("a100");
  const LayoutChange change = smallest_change(a100, layout_of(a100, "4g.20gb:0"),
                                              layout_of(a100, "2g.10gb:0,1g.5gb:3,3g.20gb:4"));
  EXPECT_EQ(steps_text(a100, change), " +3g.20gb:4 -4g.20gb:0 +2g.10gb:0 +1g.5gb:3");
  EXPECT_EQ(change.total_duration(), micros_from_seconds(0.20 + 0.21 + 0.17 + 0.16));
}

TEST(SmallestChange, ASecondMediaInstanceWaitsForTheFirstToGo) {
  const GpuModel& a100 = gpu("a100");
  const LayoutChange change =
      smallest_change(a100, layout_of(a100, "1g.5gb+me:6"), layout_of(a100, "1g.5gb+me:0"));
  EXPECT_EQ(steps_text(a100, change), " -1g.5gb+me:6 +1g.5gb+me:0");
}

TEST(SmallestChange, ToTheSameLayoutDoesNothing) {
  const GpuModel& a100 = gpu("a100");
  const Layout layout = layout_of(a100, "4g.20gb:0,3g.20gb:4");
  const LayoutChange change = smallest_change(a100, layout, layout);
  EXPECT_TRUE(change.steps.empty());
  EXPECT_EQ(change.total_duration(), Micros{0});
  EXPECT_EQ(change.kept, placements(layout));
}

int busy_lost(const Layout& from, const Layout& to, std::uint8_t busy_starts) {
  int lost = 0;
  for (const Placement placement : from.instances()) {
    if (((busy_starts >> placement.start) & 1) != 0 && !to.contains(placement)) ++lost;
  }
  return lost;
}

TEST(NearestArrangement, AgreesWithBruteForce) {
  for (const char* key : {"a30", "a100", "h200"}) {
    const GpuModel& model = gpu(key);
    const std::vector<Layout> layouts = legal_layouts(model, kBothFamilies);
    std::map<std::vector<ProfileIndex>, std::vector<Layout>> by_mix;
    for (const Layout& layout : layouts) by_mix[mix_of(layout)].push_back(layout);
    Rng rng(11);
    for (int i = 0; i < 5'000; ++i) {
      const Layout& from = layouts[rng.below(layouts.size())];
      const auto busy = static_cast<std::uint8_t>(rng.below(256));
      std::vector<ProfileIndex> mix = mix_of(layouts[rng.below(layouts.size())]);
      const auto cost = [&](const Layout& to) {
        const LayoutChange change = smallest_change(model, from, to);
        return std::tuple(busy_lost(from, to, busy), change.steps.size(), change.total_duration(),
                          to);
      };
      const Layout best = std::ranges::min(by_mix.at(mix), {}, cost);
      std::ranges::reverse(mix);
      const std::optional<Layout> found = nearest_arrangement(model, from, mix, busy);
      ASSERT_TRUE(found);
      ASSERT_EQ(format_layout(model, *found), format_layout(model, best))
          << "from " << format_layout(model, from);
    }
  }
}

TEST(NearestArrangement, FindsEveryRandomMixThatFitsAndNoOther) {
  const GpuModel& a100 = gpu("a100");
  std::map<std::vector<ProfileIndex>, bool> fitting;
  for (const Layout& layout : legal_layouts(a100, kBothFamilies)) fitting[mix_of(layout)] = true;
  Rng rng(13);
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<ProfileIndex> mix(rng.below(7));
    for (ProfileIndex& p : mix) p = static_cast<ProfileIndex>(rng.below(a100.profiles.size()));
    std::ranges::sort(mix);
    const bool fits = nearest_arrangement(a100, Layout(), mix, 0).has_value();
    ASSERT_EQ(fits, fitting.contains(mix));
    found += fits ? 1 : 0;
  }
  EXPECT_GT(found, 1'000);
}

TEST(NearestArrangement, LeavesABusyInstanceWhereItIs) {
  const GpuModel& a100 = gpu("a100");
  const Layout from = layout_of(a100, "3g.20gb:0,3g.20gb:4");
  const std::vector<ProfileIndex> mix = mix_of(layout_of(a100, "3g.20gb:0,2g.10gb:4,1g.5gb:6"));
  EXPECT_EQ(format_layout(a100, *nearest_arrangement(a100, from, mix, 0b0000'0001)),
            "3g.20gb:0,2g.10gb:4,1g.5gb:6");
  EXPECT_EQ(format_layout(a100, *nearest_arrangement(a100, from, mix, 0b0001'0000)),
            "1g.5gb:0,2g.10gb:2,3g.20gb:4");
}

TEST(NearestArrangement, OfNothingIsTheEmptyLayout) {
  const GpuModel& a100 = gpu("a100");
  EXPECT_EQ(nearest_arrangement(a100, layout_of(a100, "7g.40gb:0"), {}, 1), Layout());
}

TEST(NearestArrangement, OfAMixThatFitsNoLayoutIsNothing) {
  const GpuModel& a100 = gpu("a100");
  const ProfileIndex four = *parse_profile(a100, "4g.20gb");
  EXPECT_FALSE(nearest_arrangement(a100, Layout(), std::vector{four, four}, 0));
  const ProfileIndex one = *parse_profile(a100, "1g.5gb");
  EXPECT_FALSE(nearest_arrangement(a100, Layout(), std::vector<ProfileIndex>(100, one), 0));
}

}  // namespace
}  // namespace partita::mig
