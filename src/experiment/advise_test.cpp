#include "experiment/advise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "workload/generators/realistic.h"

namespace partita::experiment {
namespace {

// Days after real traces for two GPUs, of which a few are looked at.
DaySource small_days() {
  workload::RealisticOptions options;
  options.hours = 24;
  options.jobs_per_hour = 3;
  return realistic_days(options);
}

AdviseOptions small_options() {
  AdviseOptions options;
  options.run.model = *mig::find_gpu("a100-40gb");
  options.run.power = &options.run.model->power_curves.front();
  options.run.gpus = 2;
  options.evaluations = 20;
  options.windows_max = 5;
  options.bound_windows = 1;
  options.look_ahead = false;
  options.checkpoint_cost = Micros::seconds(30);
  return options;
}

TEST(Advise, JudgesOnWindowsThatNothingWasChosenOn) {
  const auto advice = advise(small_days(), small_options());
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  std::set<std::uint64_t> seen;
  for (const RunRecord& run : advice->portfolio.front().runs) {
    EXPECT_EQ(run.role, Role::kTune);
    seen.insert(run.seed);
  }
  ASSERT_EQ(advice->judged.runs.size(), 5U);
  for (const RunRecord& run : advice->judged.runs) {
    EXPECT_EQ(run.role, Role::kTest);
    EXPECT_FALSE(seen.contains(run.seed));
  }
}

TEST(Advise, PreferFewerMovingPartsUnlessMorePay) {
  const auto advice = advise(small_days(), small_options());
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  const auto chosen = std::ranges::find(advice->portfolio, "chosen", &TriedPolicy::remark);
  ASSERT_NE(chosen, advice->portfolio.end());
  EXPECT_TRUE(chosen->policy == advice->advised);
  for (const TriedPolicy& tried : advice->portfolio) {
    const bool simpler = tried.policy.preemption.mode == decide::Preemption::Mode::kNone;
    const bool also_simple = advice->advised.preemption.mode == decide::Preemption::Mode::kNone;
    if (simpler == also_simple) {
      EXPECT_GE(tried.mean_et(), chosen->mean_et()) << tried.policy.name;
    } else if (simpler) {
      EXPECT_GT(tried.mean_et(), chosen->mean_et() / 0.98) << tried.policy.name;
    }
  }
}

TEST(Advise, InterruptsNothingWithoutACheckpointCost) {
  AdviseOptions options = small_options();
  options.checkpoint_cost.reset();
  const auto advice = advise(small_days(), options);
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  EXPECT_EQ(advice->advised.preemption.mode, decide::Preemption::Mode::kNone);
  for (const RunRecord& run : advice->judged.runs) EXPECT_EQ(run.preemptions, 0U);
}

TEST(Advise, TheDriversTogetherAreTheWholeChange) {
  AdviseOptions options = small_options();
  options.today = {{"by hand", "fifo", "static:2", {decide::Preemption::Mode::kNone, {}}}};
  // Whole GPUs take every job; halves may not.
  options.today.front().repartition = "none";
  const auto advice = advise(small_days(), options);
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  ASSERT_EQ(advice->drivers.size(), 3U);
  double product = 1;
  for (const Driver& driver : advice->drivers) product *= 1 + driver.change;
  EXPECT_NEAR(product, advice->judged.mean_et() / advice->today.front().mean_et(), 1e-9);
}

TEST(Advise, IsNotBelowTheBound) {
  const auto advice = advise(small_days(), small_options());
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  ASSERT_EQ(advice->bounds.size(), 1U);
  EXPECT_LE(advice->bounds.front().et, advice->judged.runs.front().et * (1 + 1e-9));
}

TEST(Advise, TheNumberOfThreadsChangesNothing) {
  AdviseOptions options = small_options();
  const auto one = advise(small_days(), options);
  options.threads = 3;
  const auto three = advise(small_days(), options);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->judged.runs, three->judged.runs);
  EXPECT_EQ(one->advised.repartition, three->advised.repartition);
}

TEST(Advise, SaysWhenThereAreTooFewWindows) {
  DaySource days = small_days();
  days.tune_days_max = 1;
  days.test_days_max = 2;
  const auto advice = advise(days, small_options());
  ASSERT_FALSE(advice.ok());
  EXPECT_EQ(advice.error().message,
            "the jobs make 1 windows to tune on and 2 to judge on, and 3 of each are needed; a "
            "shorter --window makes more");
}

}  // namespace
}  // namespace partita::experiment
