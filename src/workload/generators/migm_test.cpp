#include "workload/generators/migm.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace partita::workload {
namespace {

Trace batch(const MigmOptions& options) {
  auto source = make_migm(options);
  EXPECT_TRUE(source.ok());
  auto trace = read_all(**source);
  EXPECT_TRUE(trace.ok());
  return *std::move(trace);
}

Trace batch(const std::string& mix, std::uint64_t seed) {
  MigmOptions options;
  options.mix = mix;
  options.jobs = 300;
  options.seed = seed;
  return batch(options);
}

class EveryMix : public testing::TestWithParam<std::string> {};

TEST_P(EveryMix, IsABatchWithoutDeadlinesThatMatter) {
  const Trace trace = batch(GetParam(), 1);
  ASSERT_EQ(trace.jobs.size(), 300U);
  Micros one_after_the_other;
  for (const Job& job : trace.jobs) {
    EXPECT_EQ(job.arrival, Micros{});
    one_after_the_other += job.time.back();
  }
  for (const Job& job : trace.jobs) EXPECT_GT(job.deadline, one_after_the_other);
}

TEST_P(EveryMix, IsNoSlowerOnLargerSlices) {
  for (const Job& job : batch(GetParam(), 2).jobs) {
    EXPECT_TRUE(std::ranges::is_sorted(job.time, std::ranges::greater()));
    EXPECT_GT(job.time.back(), Micros{});
  }
}

TEST_P(EveryMix, GivesTheSameJobsForTheSameSeedAndOthersForAnother) {
  const Trace once = batch(GetParam(), 3);
  EXPECT_EQ(once.jobs, batch(GetParam(), 3).jobs);
  EXPECT_EQ(once.memory_curves, batch(GetParam(), 3).memory_curves);
  EXPECT_NE(once.jobs, batch(GetParam(), 4).jobs);
}

INSTANTIATE_TEST_SUITE_P(Migm, EveryMix, testing::ValuesIn(migm_mixes()),
                         [](const auto& each) { return each.param; });

TEST(MigmPrograms, FitTheSmallestSliceAndUseUpToThree) {
  const Trace trace = batch("general", 5);
  EXPECT_EQ(trace.class_names.size(), 3U);
  EXPECT_TRUE(trace.memory_curves.empty());
  for (const Job& job : trace.jobs) {
    EXPECT_LE(job.memory_gib, 4.5F);
    EXPECT_EQ(job.time[2], job.time[4]);  // 3g and 7g
  }
  for (const Job& job : batch("small", 5).jobs) EXPECT_EQ(job.time[0], job.time[4]);
}

TEST(MigmTraining, NeedsHalfOrAQuarterOfTheGpu) {
  for (const Job& job : batch("ml", 6).jobs) {
    EXPECT_GE(job.memory_gib, 5.0F);
    EXPECT_LE(job.memory_gib, 19.5F);
  }
}

// On 40 GB every job can end; on the slice that holds its start, most models cannot.
TEST(MigmLanguage, MemoryGrowsBeyondWhatIsBelieved) {
  const Trace trace = batch("llm", 7);
  ASSERT_EQ(trace.memory_curves.size(), trace.jobs.size());
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const MemoryCurve& curve = trace.memory_curves[i];
    EXPECT_GT(curve.peak_gib, curve.start_gib);
    EXPECT_LE(curve.peak_gib, 39.25);
    EXPECT_EQ(trace.jobs[i].memory_gib, static_cast<float>(curve.start_gib));
  }
}

// Without the time of launches a step takes as long as reading the memory does, so it halves with
// every doubling of the memory slices.
TEST(MigmLanguage, StepsAreBoundByBandwidthWhereLaunchesAreNot) {
  MigmOptions options;
  options.mix = "llm";
  options.layer_ms = 0;
  for (const Job& job : batch(options).jobs) {
    EXPECT_NEAR(job.time[0].to_seconds(), 8 * job.time[4].to_seconds(), 1e-3);
    EXPECT_NEAR(job.time[2].to_seconds(), 2 * job.time[4].to_seconds(), 1e-3);
  }
  options.layer_ms = 100;
  for (const Job& job : batch(options).jobs) EXPECT_EQ(job.time[0], job.time[4]);
}

TEST(Migm, AnUnknownMixIsAnsweredWithTheKnownOnes) {
  MigmOptions options;
  options.mix = "games";
  const auto source = make_migm(options);
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().message.find("general, llm, ml, small"), std::string::npos);
}

}  // namespace
}  // namespace partita::workload
