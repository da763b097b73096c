#include "policies/learned/observation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

FleetMix mix_of(std::uint32_t gpus) {
  FleetMix mix({*mig::numbered_layout(**mig::find_gpu("a100-40gb"), 1),
                *mig::numbered_layout(**mig::find_gpu("a100-40gb"), 2)});
  mix.begin(std::vector<std::uint32_t>{gpus / 2, gpus - gpus / 2});
  return mix;
}

void add_jobs(Fleet& fleet, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int64_t minute = 60'000'000;
    const std::int64_t scale = 1 + i % 3;
    decide::ActiveJob job =
        waiting_job({28 * minute * scale, 14 * minute * scale, 10 * minute * scale,
                     7 * minute * scale, 4 * minute * scale},
                    5 * minute);
    job.id = JobId{i};
    fleet.jobs.add(job);
  }
}

std::vector<float> seen(FleetObservation& observation, const Fleet& fleet, const FleetMix& mix) {
  std::vector<float> out(observation.size());
  observation.write(fleet.view, mix, out);
  return out;
}

TEST(FleetObservation, ThePapersHas53NumbersWithTwelveLayouts) {
  EXPECT_EQ(FleetObservation(Encoding::kMeanField, 12).size(), 53U);
}

TEST(FleetObservation, ThePapersHistogramsSumToOneAndHideTheBacklog) {
  FleetObservation observation(Encoding::kMeanField, 2);
  Fleet few(2, "1");
  Fleet many(2, "1");
  add_jobs(few, 3);
  add_jobs(many, 30);
  const auto a = seen(observation, few, mix_of(2));
  const auto b = seen(observation, many, mix_of(2));
  EXPECT_NEAR(static_cast<double>(std::accumulate(a.begin() + 3, a.end(), 0.0F)), 4, 1e-4);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(a[i]), static_cast<double>(b[i]), 1e-5);
  }
}

TEST(FleetObservation, OursSeesTheBacklog) {
  FleetObservation observation(Encoding::kMeanFieldPlus, 2);
  Fleet few(2, "1");
  Fleet many(2, "1");
  add_jobs(few, 3);
  add_jobs(many, 30);
  const auto a = seen(observation, few, mix_of(2));
  const auto b = seen(observation, many, mix_of(2));
  EXPECT_NEAR(static_cast<double>(b[2]), 10 * static_cast<double>(a[2]), 1e-5);
}

// The same jobs for each GPU look the same on a fleet of any size: although only some are looked at
// for a decision, a round of decisions has seen all.
TEST(FleetObservation, OursDoesNotDependOnTheSizeOfTheFleet) {
  FleetObservation of_small(Encoding::kMeanFieldPlus, 2);
  FleetObservation of_large(Encoding::kMeanFieldPlus, 2);
  Fleet small(2, "1");
  Fleet large(2'000, "1");
  add_jobs(small, 6);
  add_jobs(large, 6'000);
  const auto a = seen(of_small, small, mix_of(2));
  for (std::uint32_t i = 0; i < 6'000 / kJobsOfMany; ++i) seen(of_large, large, mix_of(2'000));
  const auto b = seen(of_large, large, mix_of(2'000));
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(a[i]), static_cast<double>(b[i]),
                0.01 * (1 + std::abs(static_cast<double>(a[i]))));
  }
}

// Jobs that go leave the memory at the pace of a round, and nothing is remembered of an empty
// fleet.
TEST(FleetObservation, WhatIsGoneIsForgotten) {
  FleetObservation observation(Encoding::kMeanFieldPlus, 2);
  Fleet fleet(2, "1");
  add_jobs(fleet, 300);
  const FleetMix mix = mix_of(2);
  for (int i = 0; i < 10; ++i) seen(observation, fleet, mix);
  for (std::uint32_t i = 0; i < 300; ++i) {
    if (fleet.jobs[cluster::JobHandle{i}].id.value % 3 != 0) {
      fleet.jobs.remove(cluster::JobHandle{i});
    }
  }
  for (int i = 0; i < 60; ++i) seen(observation, fleet, mix);
  const auto left = seen(observation, fleet, mix);
  Fleet other(2, "1");
  add_jobs(other, 1);
  FleetObservation fresh(Encoding::kMeanFieldPlus, 2);
  const auto one = seen(fresh, other, mix);
  constexpr std::size_t kWork = 2 + 3;  // minutes at best, behind the two layouts
  const double wanted = 100 * static_cast<double>(one[kWork]);
  EXPECT_NEAR(static_cast<double>(left[kWork]), wanted, 0.005 * wanted);
}

TEST(FadingRate, FindsAConstantRate) {
  FadingRate rate(Micros::seconds(600));
  Micros now;
  for (int i = 0; i < 2'000; ++i) {
    now += Micros::seconds(10);
    rate.add(now);
  }
  EXPECT_NEAR(rate.per_minute(now), 6, 0.1);
  EXPECT_NEAR(rate.per_minute(now + Micros::seconds(600)), 6 / std::exp(1.0), 0.1);
}

}  // namespace
}  // namespace partita::policies
