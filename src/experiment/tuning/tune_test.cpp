#include "experiment/tuning/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "experiment/statistics/statistics.h"

namespace partita::experiment {
namespace {

using Windows = std::vector<workload::Trace>;

workload::Job job_at(std::int64_t arrival_s, std::int64_t slack_s) {
  workload::Job job;
  job.arrival = Micros::seconds(arrival_s);
  job.deadline = Micros::seconds(arrival_s + slack_s);
  job.time.fill(workload::kNoTime);
  return job;
}

// So many small jobs that every GPU should be cut as finely as can be.
workload::Trace many_small_jobs() {
  workload::Trace trace;
  trace.class_names = {"small"};
  for (int i = 0; i < 40; ++i) {
    workload::Job job = job_at(i, 30);
    job.time[0] = Micros::seconds(20);
    job.time[4] = Micros::seconds(19);
    trace.add(job, std::to_string(i));
  }
  return trace;
}

// Jobs that run on one size only: 1g, 3g or 7g, with the share of each left to the seed.
workload::Trace exact_sizes(std::uint64_t seed) {
  Rng rng(seed);
  workload::Trace trace;
  trace.class_names = {"exact"};
  for (int i = 0; i < 60; ++i) {
    workload::Job job = job_at(10 * i, 60);
    const std::uint64_t draw = i < 3 ? static_cast<std::uint64_t>(i) : rng.below(10);
    job.time[draw == 0   ? 4
             : draw == 1 ? 2
                         : 0] = Micros::seconds(20 + static_cast<std::int64_t>(rng.below(60)));
    trace.add(job, std::to_string(i));
  }
  return trace;
}

// Jobs that run anywhere.
workload::Trace any_size(std::uint64_t seed, double load) {
  Rng rng(seed);
  workload::Trace trace;
  trace.class_names = {"any"};
  for (int i = 0; i < 50; ++i) {
    workload::Job job = job_at(12 * i, 50);
    const double whole_s = load * rng.uniform(5, 30);
    for (std::size_t size = 0; size < job.time.size(); ++size) {
      const double speed = std::pow(workload::kSliceSizes[size] / 7.0, rng.uniform(0.3, 1.0));
      job.time[size] = micros_from_seconds(whole_s / speed);
    }
    trace.add(job, std::to_string(i));
  }
  return trace;
}

TuneSetting setting_of(std::uint32_t gpus, const std::string& scheduler = "mdd") {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  TuneSetting setting;
  setting.run.model = &model;
  setting.run.power = &model.power_curves.front();
  setting.run.gpus = gpus;
  setting.run.preemption.mode = decide::Preemption::Mode::kNone;
  setting.scheduler = scheduler;
  return setting;
}

TuneOptions few(std::uint64_t evaluations = 60) {
  TuneOptions options;
  options.evaluations = evaluations;
  return options;
}

TEST(Tune, FindsTheFinestCutForManySmallJobs) {
  TuneSetting setting = setting_of(2, "edf-ss");
  setting.run.preemption.mode = decide::Preemption::Mode::kFree;
  const auto tuned = tune_mix(Windows{many_small_jobs()}, setting, few(200));
  ASSERT_TRUE(tuned.ok());
  EXPECT_EQ(to_text(tuned->plan), "static:12,12");
  EXPECT_LE(mean(tuned->et), mean(tuned->start_et));
  EXPECT_TRUE(tuned->folds.empty());  // one window: nothing to leave out
}

TEST(Tune, FindsTheBestOfAllMixesOfTwoGpus) {
  const Windows windows{any_size(1, 1), any_size(2, 1), any_size(3, 1)};
  const TuneSetting setting = setting_of(2);
  TuneOptions options = few(1'000);
  options.caution = 0;
  const auto tuned = tune_mix(windows, setting, options);
  ASSERT_TRUE(tuned.ok());
  PlanScores scores(windows, setting, 1);
  double least = kCannotRun;
  for (int a = 1; a <= 12; ++a) {
    for (int b = a; b <= 12; ++b) {
      const MixPlan plan{{{Micros{}, {a, b}}}};
      least = std::min(least, mean(scores.all(plan, std::vector<std::size_t>{0, 1, 2})));
    }
  }
  EXPECT_DOUBLE_EQ(mean(tuned->et), least);
}

TEST(Tune, JobsOfExactSizesAreTunedForAlthoughNoSingleLayoutRunsThemAll) {
  const Windows windows{exact_sizes(1), exact_sizes(2), exact_sizes(3)};
  for (const std::uint32_t gpus : {2U, 4U, 9U}) {
    TuneOptions options = few();
    options.references = {"none", "static:12"};
    const TuneSetting setting = setting_of(gpus);
    const auto tuned = tune_mix(windows, setting, options);
    ASSERT_TRUE(tuned.ok()) << tuned.error().message;
    EXPECT_EQ(tuned->plan.segments[0].mix.size(), gpus);
    PlanScores scores(windows, setting, 1);
    const auto run = scores.of_text(to_text(tuned->plan));
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(*run, tuned->et);
    for (const Fold& fold : tuned->folds) EXPECT_TRUE(scores.of_text(to_text(fold.plan)).ok());
    for (const Reference& each : tuned->references) {
      EXPECT_TRUE(each.et.empty());
      EXPECT_NE(each.reason.find("needs 0 GiB and a slice of size"), std::string::npos);
    }
  }
}

TEST(Tune, WhatIsTunedCanRunEveryJobWhateverSizesTheyAsk) {
  Rng rng(5);
  for (int round = 0; round < 12; ++round) {
    Windows windows(2);
    for (workload::Trace& window : windows) {
      window.class_names = {"any"};
      for (int i = 0; i < 12; ++i) {
        workload::Job job = job_at(5 * i, 40);
        job.memory_gib = static_cast<float>(rng.uniform(0, 9));
        for (const std::size_t size : {rng.below(5), rng.below(5)}) {
          job.time[size] = Micros::seconds(30);
        }
        window.add(job, std::to_string(i));
      }
    }
    const auto gpus = static_cast<std::uint32_t>(1 + rng.below(4));
    const TuneSetting setting = setting_of(gpus);
    const auto tuned = tune_mix(windows, setting, few(30));
    if (!tuned) {
      EXPECT_NE(tuned.error().message.find("needs"), std::string::npos) << tuned.error().message;
      continue;
    }
    PlanScores scores(windows, setting, 1);
    EXPECT_TRUE(scores.of_text(to_text(tuned->plan)).ok());
  }
}

TEST(Tune, WindowsThatItIsJudgedOnMustFitAsWell) {
  const Windows windows{any_size(1, 1), many_small_jobs()};
  const Windows others{exact_sizes(1)};
  TuneOptions options = few();
  const TuneSetting setting = setting_of(3);
  PlanScores scores(others, setting, 1);
  EXPECT_FALSE(scores.of_text(to_text(tune_mix(windows, setting, options)->plan)).ok());
  options.also_to_fit = others;
  EXPECT_TRUE(scores.of_text(to_text(tune_mix(windows, setting, options)->plan)).ok());
}

TEST(Tune, ChangesThatChanceMayExplainAreNotMade) {
  // On every window another mix is best.
  const Windows windows{any_size(1, 5), any_size(2, 1), many_small_jobs(), any_size(4, 8)};
  TuneOptions options = few(300);
  options.folds = 0;
  options.caution = 0;
  const auto bold = tune_mix(windows, setting_of(4), options);
  options.caution = 10;
  const auto cautious = tune_mix(windows, setting_of(4), options);
  ASSERT_TRUE(bold.ok() && cautious.ok());
  EXPECT_EQ(cautious->plan, cautious->start);
  EXPECT_NE(bold->plan, bold->start);
}

TEST(Tune, AFoldNeverSeesTheWindowsItIsJudgedOn) {
  Windows windows;
  for (std::uint64_t i = 0; i < 6; ++i) windows.push_back(any_size(i, 1));
  TuneOptions options = few();
  options.folds = 3;
  const auto before = tune_mix(windows, setting_of(3), options);
  // Another workload in the windows of the second fold alone.
  windows[2] = many_small_jobs();
  windows[3] = any_size(77, 9);
  const auto after = tune_mix(windows, setting_of(3), options);
  ASSERT_TRUE(before.ok() && after.ok());
  ASSERT_EQ(before->folds.size(), 3U);
  EXPECT_EQ(before->folds[1].left_out, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(before->folds[1].plan, after->folds[1].plan);
  EXPECT_NE(before->unseen_et[3], after->unseen_et[3]);
  EXPECT_NE(before->folds[0].plan, after->folds[0].plan);  // it saw them: the test can fail
}

TEST(Tune, WindowsLeftOutAreJudgedWithThePlanOfTheirFold) {
  Windows windows;
  for (std::uint64_t i = 0; i < 5; ++i) windows.push_back(any_size(i, 1 + 0.3 * double(i)));
  const TuneSetting setting = setting_of(2);
  const auto tuned = tune_mix(windows, setting, few());
  ASSERT_TRUE(tuned.ok());
  ASSERT_EQ(tuned->folds.size(), 5U);
  PlanScores scores(windows, setting, 1);
  std::size_t agreeing = 0;
  for (const Fold& fold : tuned->folds) {
    const std::size_t window = fold.left_out.at(0);
    EXPECT_EQ(tuned->unseen_et[window], scores.all(fold.plan, fold.left_out).at(0));
    agreeing += fold.plan == tuned->plan ? 1U : 0U;
  }
  EXPECT_EQ(tuned->folds_agreeing(), agreeing);
  EXPECT_GE(tuned->share_agreed(), static_cast<double>(agreeing) / 5);
  EXPECT_LE(tuned->share_agreed(), 1);
  ASSERT_TRUE(tuned->runner_up);
  EXPECT_NE(*tuned->runner_up, tuned->plan);
}

TEST(Tune, IsTheSameWithAnyNumberOfThreads) {
  const Windows windows{any_size(1, 1), any_size(2, 2), exact_sizes(3)};
  TuneOptions options = few();
  options.segments = 2;
  const auto one = tune_mix(windows, setting_of(3), options);
  options.threads = 3;
  const auto three = tune_mix(windows, setting_of(3), options);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->plan, three->plan);
  EXPECT_EQ(one->et, three->et);
  EXPECT_EQ(one->unseen_et, three->unseen_et);
  EXPECT_EQ(one->runner_up, three->runner_up);
  EXPECT_EQ(one->runs, three->runs);
}

TEST(Tune, TunesForThePolicyThatWillRun) {
  const Windows windows{any_size(1, 5), any_size(2, 5), any_size(3, 5)};
  const std::vector<std::size_t> all{0, 1, 2};
  TuneSetting preemptive = setting_of(4, "mdd");
  preemptive.run.preemption.mode = decide::Preemption::Mode::kFree;
  const std::vector<TuneSetting> settings{setting_of(4, "mdd"), setting_of(4, "fifo+smallest"),
                                          preemptive};
  std::vector<MixPlan> plans;
  for (const TuneSetting& setting : settings) {
    TuneOptions options = few(300);
    options.folds = 0;
    options.caution = 0;
    const auto tuned = tune_mix(windows, setting, options);
    ASSERT_TRUE(tuned.ok());
    plans.push_back(tuned->plan);
  }
  EXPECT_NE(plans[0], plans[1]);  // another order and placement
  EXPECT_NE(plans[0], plans[2]);  // another preemption
  for (std::size_t own = 0; own < settings.size(); ++own) {
    PlanScores scores(windows, settings[own], 1);
    for (const MixPlan& other : plans) {
      EXPECT_LE(mean(scores.all(plans[own], all)), mean(scores.all(other, all)));
    }
  }
}

TEST(Tune, AFleetOfHundredsIsTunedInProportionsFirst) {
  Windows windows;
  for (std::uint64_t i = 0; i < 2; ++i) windows.push_back(exact_sizes(i));
  TuneOptions options = few(40);
  options.folds = 0;
  const auto tuned = tune_mix(windows, setting_of(200), options);
  ASSERT_TRUE(tuned.ok());
  EXPECT_EQ(tuned->plan.segments[0].mix.size(), 200U);
  EXPECT_LE(mean(tuned->et), mean(tuned->start_et));
}

TEST(Tune, ATimetableIsNoWorseThanTheStaticMixItBeginsWith) {
  const Windows windows{any_size(1, 1), any_size(2, 1)};
  TuneOptions options = few(80);
  options.folds = 0;
  options.segments = 2;
  const auto tuned = tune_mix(windows, setting_of(2), options);
  ASSERT_TRUE(tuned.ok());
  EXPECT_EQ(tuned->plan.segments.size(), 2U);
  EXPECT_LE(mean(tuned->et), mean(tuned->start_et));
}

TEST(Tune, AFoldWhosePlanCannotRunWhatItLeftOutSaysSo) {
  // These jobs fit a slice of every layout but 1, yet wait for the one they ask for: what a fold
  // leaves out may ask for another.
  Windows windows;
  for (const std::size_t size : {0U, 1U}) {
    workload::Trace trace;
    trace.class_names = {"asks"};
    for (int i = 0; i < 30; ++i) {
      workload::Job job = job_at(i, size == 0 ? 1'000 : 12);
      job.time[0] = Micros::seconds(20);
      job.time[1] = Micros::seconds(10);
      trace.add(job, std::to_string(i));
    }
    windows.push_back(trace);
  }
  TuneSetting setting = setting_of(1, "fifo+requested");
  const auto tuned = tune_mix(windows, setting, few());
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  ASSERT_EQ(tuned->folds.size(), 2U);
  EXPECT_TRUE(tuned->unseen_et.empty());
  EXPECT_NE(tuned->unseen_reason.find("but waits for another size"), std::string::npos)
      << tuned->unseen_reason;
}

// Whole GPUs are a tenth better on the three windows with the highest ET, and four times as bad on
// the nine others.
Windows hard_ones_that_mislead() {
  Windows windows;
  for (int i = 0; i < 12; ++i) {
    const bool hard = i % 4 == 0;
    workload::Trace trace;
    trace.class_names = {"c"};
    for (int job = 0; job < (hard ? 1 : 7); ++job) {
      workload::Job each = job_at(0, 0);
      each.time.fill(Micros::seconds(hard ? 660 : 60));
      if (hard) each.time.back() = Micros::seconds(600);
      trace.add(each, std::to_string(job));
    }
    windows.push_back(trace);
  }
  return windows;
}

TEST(Tune, WhatLosesOnTheHardestWindowsAloneIsNotDropped) {
  const auto tuned = tune_mix(hard_ones_that_mislead(), setting_of(1), few());
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  EXPECT_LT(mean(tuned->et), 4);  // 3.5 on seven slices, 5.5 on the whole GPU
}

TEST(Tune, IsNotWorseThanAStaticMixItIsComparedWith) {
  Windows windows;
  for (std::uint64_t i = 0; i < 6; ++i) windows.push_back(any_size(100 + i, 4));
  TuneOptions options = few();
  options.evaluations = 1;
  options.folds = 0;
  const double alone = mean(tune_mix(windows, setting_of(3), options)->et);
  options.evaluations = 400;
  const std::string good = to_text(tune_mix(windows, setting_of(3), options)->plan);
  options.evaluations = 1;
  options.references = {"none", good};
  const auto tuned = tune_mix(windows, setting_of(3), options);
  ASSERT_TRUE(tuned.ok());
  EXPECT_LT(mean(tuned->et), alone);
  EXPECT_LE(mean(tuned->et), mean(tuned->references.back().et) * (1 + 1e-12));
}

TEST(Tune, BlocksOfNeighboursAreLeftOutOnceEach) {
  for (std::size_t windows = 2; windows < 20; ++windows) {
    for (std::size_t folds = 2; folds < 8; ++folds) {
      const auto blocks = blocks_of_windows(windows, folds);
      EXPECT_EQ(blocks.size(), std::min(windows, folds));
      std::vector<std::size_t> all;
      for (const auto& block : blocks) {
        EXPECT_GE(block.size(), windows / blocks.size());
        EXPECT_LE(block.size(), windows / blocks.size() + 1);
        all.insert(all.end(), block.begin(), block.end());
      }
      std::vector<std::size_t> expected(windows);
      std::iota(expected.begin(), expected.end(), std::size_t{0});
      EXPECT_EQ(all, expected);
    }
  }
  EXPECT_TRUE(blocks_of_windows(1, 5).empty());
  EXPECT_TRUE(blocks_of_windows(5, 1).empty());
}

TEST(Tune, NoWindowIsAnError) {
  EXPECT_EQ(tune_mix({}, setting_of(1), few()).error().message,
            "there is no window of jobs to tune on");
}

TEST(Tune, TooFewGpusAreAnErrorThatNamesAJob) {
  const auto tuned = tune_mix(Windows{exact_sizes(1)}, setting_of(1), few());
  ASSERT_FALSE(tuned.ok());
  EXPECT_NE(tuned.error().message.find("1 GPU cannot be cut so that every job fits a slice: job '"),
            std::string::npos)
      << tuned.error().message;
}

}  // namespace
}  // namespace partita::experiment
