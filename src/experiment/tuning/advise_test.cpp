#include "experiment/tuning/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiment/test_support.h"
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

// One GPU, whole for every fourth job and in pieces for the others: no static layout has both.
DaySource exact_days() {
  workload::Trace trace;
  trace.class_names = {"c"};
  for (int i = 0; i < 360; ++i) {
    workload::Job job;
    job.arrival = Micros::seconds(i * 600);
    job.deadline = job.arrival + Micros::seconds(2'000);
    job.time.fill(workload::kNoTime);
    if (i % 4 == 0) {
      job.time.back() = Micros::seconds(200 + i % 7);
    } else {
      job.time.front() = Micros::seconds(900 + i % 11);
    }
    trace.add(job, std::to_string(i));
  }
  Windows windows;
  windows.length = Micros::seconds(4 * 3600);
  return *trace_days(trace, "exact", windows);
}

AdviseOptions one_gpu() {
  AdviseOptions options = small_options();
  options.run.gpus = 1;
  return options;
}

TEST(Advise, AdvisesLayoutsOnDemandWhereNoStaticMixCanRunEveryJob) {
  const auto advice = advise(exact_days(), one_gpu());
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  EXPECT_TRUE(advice->advised.repartition.starts_with("ondemand")) << advice->advised.repartition;
  EXPECT_NE(advice->no_static.find("cannot be cut so that every job fits"), std::string::npos);
  EXPECT_FALSE(advice->static_is_enough);
  for (const TriedPolicy& tried : advice->portfolio) {
    EXPECT_FALSE(tried.policy.repartition.starts_with("static")) << tried.policy.name;
  }
  EXPECT_TRUE(advice->compared_with.has_value());
}

TEST(Advise, LeavesOutWhatIsDoneTodayWhereItCannotRunSomeJob) {
  constexpr decide::Preemption kNone{decide::Preemption::Mode::kNone, {}};
  AdviseOptions options = one_gpu();
  options.today = {{"whole", "fifo", "none", kNone},
                   {"on demand", "fifo+requested", "ondemand", kNone}};
  const auto some = advise(exact_days(), options);
  ASSERT_TRUE(some.ok()) << some.error().message;
  EXPECT_FALSE(some->today[0].ran());
  EXPECT_NE(some->today[0].cannot_run, "");
  EXPECT_EQ(some->compared_with, std::optional<std::size_t>(1));
  options.today.pop_back();
  const auto none = advise(exact_days(), options);
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_FALSE(none->compared_with.has_value());
  EXPECT_TRUE(none->judged.ran());
  ASSERT_FALSE(none->wrong.empty());
  EXPECT_FALSE(none->wrong.front().et_today.has_value());
}

// Days on which only those to tune on can be run on whole GPUs.
TEST(Advise, LeavesOutWhatCannotRunTheWindowsKeptBack) {
  const DaySource exact = exact_days();
  DaySource days = exact;
  days.make = [exact](std::uint64_t seed) -> Result<workload::Trace> {
    auto window = exact.make(seed);
    if (role_of_seed(seed) == Role::kTest) return window;
    for (workload::Job& job : window->jobs) {
      job.time.fill(workload::kNoTime);
      job.time.back() = Micros::seconds(200);
    }
    return window;
  };
  AdviseOptions options = one_gpu();
  options.today = {{"whole", "fifo", "none", {decide::Preemption::Mode::kNone, {}}}};
  const auto advice = advise(days, options);
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  EXPECT_TRUE(advice->judged.ran());
  EXPECT_TRUE(advice->advised.repartition.starts_with("ondemand"));
}

TEST(Advise, ABoundThatTakesTooLongIsCutShortAndCounted) {
  AdviseOptions options = small_options();
  options.bound_windows = 2;
  const auto whole = advise(small_days(), options);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(whole->bounds_cut_short, 0U);
  options.bound_seconds = 0;
  options.clock = [] { return 0.0; };
  const auto cut = advise(small_days(), options);
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  EXPECT_EQ(cut->bounds_cut_short, 2U);
  EXPECT_GE(cut->bound_gap, whole->bound_gap);
}

TEST(Advise, SaysHowFarItIsAndNeverGoesBack) {
  AdviseOptions options = small_options();
  std::vector<double> parts;
  options.progress = [&](double part) { parts.push_back(part); };
  ASSERT_TRUE(advise(small_days(), options).ok());
  ASSERT_GT(parts.size(), 50U);
  EXPECT_TRUE(std::ranges::is_sorted(parts));
  EXPECT_DOUBLE_EQ(parts.back(), 1);
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

TEST(DaysToAdviseOn, AreAsLongAsLeavesFourToTuneOn) {
  // Two jobs a minute: windows of an hour, half an hour ... have enough of them.
  const auto long_trace = days_to_advise_on(minute_jobs(12 * 24 * 120, 30), "x", 1);
  ASSERT_TRUE(long_trace.ok());
  EXPECT_EQ(long_trace->window, Micros::seconds(86'400));
  EXPECT_EQ(long_trace->tune_days_max, 4U);
  const auto one_day = days_to_advise_on(minute_jobs(24 * 120, 30), "x", 1);
  ASSERT_TRUE(one_day.ok());
  EXPECT_EQ(one_day->window, Micros::seconds(3'600));
}

TEST(DaysToAdviseOn, WhereNoLengthMakesEnoughItIsTheOneThatMakesMost) {
  const auto few = days_to_advise_on(minute_jobs(70, 30), "x", 1);  // 35 minutes
  ASSERT_TRUE(few.ok());
  EXPECT_LT(few->tune_days_max, 4U);
  EXPECT_FALSE(days_to_advise_on(minute_jobs(3, 30), "x", 1).ok());
}

}  // namespace
}  // namespace partita::experiment
