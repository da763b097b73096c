#include "policies/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace partita::policies {
namespace {

TEST(Registry, EveryNameOfTheIssueResolves) {
  for (const char* name :
       {"edf-ss", "edf-fs", "llf", "lalf", "mp-edf", "met", "cedf", "random", "largest-first",
        "smallest-first", "eft", "first-fit", "fifo", "sjf", "mdd", "mdd-fastest", "atc"}) {
    EXPECT_TRUE(make_scheduler(name, 1).ok()) << name;
    const auto facts = scheduler_facts(name);
    ASSERT_TRUE(facts.ok()) << name;
    EXPECT_EQ(facts->name, name);
    EXPECT_FALSE(facts->summary.empty() || facts->source.empty()) << name;
  }
}

TEST(Registry, NamesAreUniqueAndPointAtKnownParts) {
  std::set<std::string> names;
  for (const SchedulerRow& row : schedulers()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(make_scheduler(row.order + "+" + row.placement, 1).ok()) << row.name;
  }
  EXPECT_EQ(names.size(), 17U);
}

TEST(Registry, OrdersAndPlacementsAreSortedAndDescribed) {
  const auto by_name = [](const auto& a, const auto& b) { return a.facts.name < b.facts.name; };
  EXPECT_TRUE(std::ranges::is_sorted(orders(), by_name));
  EXPECT_TRUE(std::ranges::is_sorted(placements(), by_name));
  for (const OrderRow& row : orders()) EXPECT_FALSE(row.facts.summary.empty());
  for (const PlacementRow& row : placements()) EXPECT_FALSE(row.facts.summary.empty());
}

TEST(Registry, EveryOrderGoesWithEveryPlacement) {
  for (const OrderRow& order : orders()) {
    for (const PlacementRow& placement : placements()) {
      const std::string name = order.facts.name + "+" + placement.facts.name;
      EXPECT_TRUE(make_scheduler(name, 1).ok()) << name;
      const auto facts = scheduler_facts(name);
      ASSERT_TRUE(facts.ok()) << name;
      EXPECT_EQ(facts->summary, order.facts.summary + "; " + placement.facts.summary);
    }
  }
}

TEST(Registry, ACompositionNeedsWhatItsPartsNeed) {
  const decide::PolicyFacts first_fit = *scheduler_facts("fifo+first");
  EXPECT_FALSE(first_fit.needs_run_times || first_fit.needs_deadlines || first_fit.needs_seed);
  EXPECT_TRUE(scheduler_facts("sjf+first")->needs_run_times);
  EXPECT_TRUE(scheduler_facts("edf+first")->needs_deadlines);
  EXPECT_TRUE(scheduler_facts("fifo+random")->needs_seed);
  EXPECT_TRUE(scheduler_facts("met")->needs_power_curve);
  EXPECT_TRUE(scheduler_facts("fifo+slowest")->needs_deadlines);
}

TEST(Registry, PlacementsThatTakeOneProfileAreKnown) {
  for (const char* exact : {"fifo+requested", "mdd+tightest", "edf+half-speed"}) {
    EXPECT_TRUE(waits_for_one_profile(exact)) << exact;
  }
  for (const char* other : {"fifo", "mdd+slowest", "learned:tightest", "tightest", "x+tightest"}) {
    EXPECT_FALSE(waits_for_one_profile(other)) << other;
  }
}

TEST(Registry, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(make_scheduler("foo", 1).error().message,
            "unknown scheduler 'foo'; known: edf-ss, edf-fs, llf, lalf, mp-edf, met, cedf, random, "
            "largest-first, smallest-first, eft, first-fit, fifo, sjf, mdd, mdd-fastest, atc, or "
            "ORDER+PLACEMENT as in mdd+slowest, or learned:FILE");
  EXPECT_EQ(make_scheduler("foo+slowest", 1).error().message,
            "unknown order of jobs 'foo'; known: atc, category, edf, fifo, lalf, llf, mdd, "
            "mdd-fastest, sjf");
  EXPECT_EQ(scheduler_facts("mdd+foo").error().message,
            "unknown placement 'foo'; known: earliest, fastest, first, half-speed, largest, "
            "marginal-et, most-packed, random, requested, slowest, smallest, tightest, wide-first");
}

}  // namespace
}  // namespace partita::policies
