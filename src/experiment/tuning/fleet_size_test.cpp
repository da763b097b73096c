#include "experiment/tuning/fleet_size.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

const Policy kWholeGpus{"mdd", "none"};

// A minute of work every `every_s` seconds: with whole GPUs, that many of them are busy.
Result<FleetSizes> sizes(int every_s, double late_max, std::uint32_t gpus_max) {
  return size_fleet(minute_jobs(200, every_s), a100_options(1), kWholeGpus,
                    {.late_max = late_max, .gpus_max = gpus_max});
}

TEST(FleetSize, FindsTheFewestGpusThatKeepToTheTarget) {
  const auto found = sizes(10, 0, 64);  // six jobs at a time
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->fewest, 6U);
  EXPECT_TRUE(std::ranges::is_sorted(found->curve, {}, &SizedFleet::gpus));
  for (const SizedFleet& fleet : found->curve) {
    EXPECT_EQ(fleet.result.late_share() == 0, fleet.gpus >= 6) << fleet.gpus;
  }
}

TEST(FleetSize, RunsTheSizesAroundTheAnswerOnce) {
  const auto found = sizes(10, 0, 64);
  ASSERT_TRUE(found.ok());
  for (std::uint32_t gpus = 3; gpus <= 9; ++gpus) {
    EXPECT_EQ(std::ranges::count(found->curve, gpus, &SizedFleet::gpus), 1) << gpus;
  }
}

TEST(FleetSize, SaysWhenNoSizeThatMayBeTriedIsEnough) {
  const auto found = sizes(10, 0, 4);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->fewest.has_value());
  EXPECT_EQ(found->curve.back().gpus, 4U);
}

TEST(FleetSize, LayoutsThatDoNotFitAreAnErrorWithTheirPlace) {
  const auto found = size_fleet(minute_jobs(200, 1), a100_options(1), {"mdd", "static:1,1,1"},
                                {.layouts_place = "--repartition"});
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(found.error().message.starts_with("--repartition: ")) << found.error().message;
}

TEST(FleetSize, TheKneeLiesFurthestBelowTheLineBetweenTheEnds) {
  std::vector<SizedFleet> curve(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    curve[i].gpus = i + 1;
    curve[i].result.energy_j = 100 + 10 * i;
    curve[i].result.mean_tardiness_s = i == 0 ? 90 : 10.0 - i;
  }
  EXPECT_EQ(knee_of(curve), 2U);
  curve.resize(2);
  EXPECT_FALSE(knee_of(curve).has_value());
}

}  // namespace
}  // namespace partita::experiment
