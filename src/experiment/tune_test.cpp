#include "experiment/tune.h"

#include <gtest/gtest.h>

namespace partita::experiment {
namespace {

// Jobs that run only on 1g slices, so many that one GPU must be cut as finely as can be.
workload::Trace many_small_jobs() {
  workload::Trace trace;
  trace.class_names = {"small"};
  for (int i = 0; i < 40; ++i) {
    workload::Job job;
    job.arrival = Micros::seconds(i);
    job.deadline = Micros::seconds(i + 30);
    job.time.fill(workload::kNoTime);
    job.time[0] = Micros::seconds(20);
    job.time[4] = Micros::seconds(19);
    trace.add(job, std::to_string(i));
  }
  return trace;
}

TuneOptions options_for(std::vector<workload::Trace> days) {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  TuneOptions options;
  options.run.model = &model;
  options.run.power = &model.power_curves.front();
  options.run.gpus = 2;
  options.scheduler = "edf-ss";
  options.days = std::move(days);
  options.evaluations = 200;
  return options;
}

TEST(Tune, FindsTheFinestCutForManySmallJobs) {
  const auto tuned = tune(options_for({many_small_jobs()}));
  ASSERT_TRUE(tuned.ok());
  EXPECT_EQ(to_text(tuned->plan), "static:12,12");
  EXPECT_LE(tuned->et, tuned->first_et);
}

TEST(Tune, IsTheSameWithAnyNumberOfThreads) {
  TuneOptions options = options_for({many_small_jobs(), many_small_jobs(), many_small_jobs()});
  options.segments = 2;
  const auto one = tune(options);
  options.threads = 3;
  const auto three = tune(options);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->plan, three->plan);
  EXPECT_EQ(one->et, three->et);
}

TEST(Tune, NoDayIsAnError) {
  EXPECT_EQ(tune(options_for({})).error().message, "there is no day to tune on");
}

}  // namespace
}  // namespace partita::experiment
