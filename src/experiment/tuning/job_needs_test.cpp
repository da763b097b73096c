#include "experiment/tuning/job_needs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace partita::experiment {
namespace {

const mig::GpuModel& a100() {
  return **mig::find_gpu("a100-40gb");
}

// A job with a time for these sizes only.
workload::Job exact(std::initializer_list<int> sizes, float memory_gib = 0) {
  workload::Job job;
  job.deadline = Micros::seconds(100);
  job.time.fill(workload::kNoTime);
  for (const int size : sizes) job.time[*workload::slice_size_index(size)] = Micros::seconds(10);
  job.memory_gib = memory_gib;
  return job;
}

workload::Trace trace_of(const std::vector<workload::Job>& jobs) {
  workload::Trace trace;
  trace.class_names = {"none"};
  for (std::size_t i = 0; i < jobs.size(); ++i) trace.add(jobs[i], "j" + std::to_string(i));
  return trace;
}

Result<JobNeeds> needs_of(const std::vector<workload::Job>& jobs) {
  const std::vector<workload::Trace> windows{trace_of(jobs)};
  return JobNeeds::of(a100(), windows);
}

TEST(JobNeeds, JobsThatRunAnywhereLetASearchBeginWithOneLayoutForAllGpus) {
  const auto needs = needs_of({exact({1, 2, 3, 4, 7})});
  ASSERT_TRUE(needs.ok());
  const auto mixes = needs->first_mixes(3);
  ASSERT_TRUE(mixes.ok());
  ASSERT_EQ(mixes->size(), 12U);
  for (int number = 1; number <= 12; ++number) {
    EXPECT_EQ((*mixes)[static_cast<std::size_t>(number - 1)], Mix(3, number));
  }
}

TEST(JobNeeds, JobsOfExactSizesLetItBeginWithMixesThatHaveEverySize) {
  const auto needs = needs_of({exact({1}), exact({7}), exact({3})});
  ASSERT_TRUE(needs.ok());
  EXPECT_FALSE(needs->met_by(Mix{1, 12}));
  EXPECT_TRUE(needs->met_by(Mix{1, 8}));  // 8 has 1g and 3g
  const auto mixes = needs->first_mixes(4);
  ASSERT_TRUE(mixes.ok());
  EXPECT_NE(std::ranges::find(*mixes, Mix({1, 1, 1, 7})), mixes->end());
  for (const Mix& mix : *mixes) EXPECT_TRUE(needs->met_by(mix));
}

TEST(JobNeeds, ATimetableMayServeAJobInOneOfItsSegments) {
  const auto needs = needs_of({exact({1}), exact({7})});
  ASSERT_TRUE(needs.ok());
  EXPECT_TRUE(needs->met_by(MixPlan{{{Micros{}, {1}}, {Micros::seconds(3600), {12}}}}));
  EXPECT_FALSE(needs->met_by(MixPlan{{{Micros{}, {1}}, {Micros::seconds(3600), {2}}}}));
}

TEST(JobNeeds, TooFewGpusAreRefusedWithAJobThatIsLeftOut) {
  const auto needs = needs_of({exact({1}), exact({1}), exact({7})});
  ASSERT_TRUE(needs.ok());
  EXPECT_EQ(needs->first_mixes(1).error().message,
            "1 GPU cannot be cut so that every job fits a slice: job 'j2' needs 0 GiB and a slice "
            "of size 7g, which the layouts that serve the most jobs do not have; 2 GPUs are the "
            "fewest");
  EXPECT_TRUE(needs->first_mixes(2).ok());
}

TEST(JobNeeds, AJobThatNoLayoutServesIsRefusedByName) {
  EXPECT_EQ(needs_of({exact({1}), exact({1, 2}, 39)}).error().message,
            "job 'j1' needs 39 GiB and a slice of size 1g 2g; no numbered layout of a100-40gb "
            "offers that");
}

TEST(JobNeeds, MemoryThatGrowsCountsAtItsPeak) {
  workload::Trace trace;
  trace.class_names = {"none"};
  workload::MemoryCurve curve;
  curve.start_gib = 1;
  curve.peak_gib = 30;
  trace.add(exact({1, 7}, 1), "grows", curve);
  const auto needs = JobNeeds::of(a100(), std::vector{trace});
  ASSERT_TRUE(needs.ok());
  EXPECT_FALSE(needs->met_by(Mix{12}));
  EXPECT_TRUE(needs->met_by(Mix{1}));
}

// Against a search through all mixes: first_mixes() finds one whenever there is one.
TEST(JobNeeds, AMixIsFoundWheneverThereIsOne) {
  Rng rng(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<workload::Job> jobs;
    for (std::uint64_t i = 0; i < 1 + rng.below(4); ++i) {
      const std::array sizes{1, 2, 3, 4, 7};
      jobs.push_back(exact({sizes[rng.below(5)]}));
    }
    const auto needs = needs_of(jobs);
    ASSERT_TRUE(needs.ok());
    bool possible = false;
    for (int a = 1; a <= 12; ++a) {
      for (int b = a; b <= 12; ++b) possible |= needs->met_by(Mix{a, b});
    }
    const auto mixes = needs->first_mixes(2);
    EXPECT_EQ(mixes.ok(), possible);
    for (std::size_t i = 0; mixes.ok() && i < mixes->size(); ++i) {
      EXPECT_TRUE(needs->met_by((*mixes)[i]));
      EXPECT_EQ((*mixes)[i].size(), 2U);
    }
  }
}

}  // namespace
}  // namespace partita::experiment
