#include "policies/schedulers/preemption_planner.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

constexpr std::int64_t kCost = 10;
constexpr std::array<std::int64_t, 5> kWholeGpuOnly{-1, -1, -1, -1, 1000};

// A fleet at 500 us, in which an interruption costs 10 us.
class PreemptionPlannerTest : public testing::Test {
 protected:
  explicit PreemptionPlannerTest(std::uint32_t gpus = 1, std::string_view layouts = "1")
      : fleet_(gpus, layouts) {
    fleet_.view.now = {500};
    fleet_.view.preemption = {decide::Preemption::Mode::kPays, Micros{kCost}};
  }

  JobHandle add(std::array<std::int64_t, 5> times, std::int64_t deadline) {
    workload::Job job;
    job.deadline = {deadline};
    for (std::size_t i = 0; i < times.size(); ++i) job.time[i] = {times[i]};
    const cluster::ProfileFits fits(*fleet_.cluster.model);
    return fleet_.jobs.add(job, JobId{next_id_++}, fits(job));
  }
  JobHandle run(std::array<std::int64_t, 5> times, std::int64_t deadline, SliceId slice,
                std::int64_t since = 0) {
    const JobHandle handle = add(times, deadline);
    cluster::start_job(fleet_.cluster, slice, handle);
    decide::ActiveJob& job = fleet_.jobs[handle];
    job.slice = slice;
    job.size_index = fleet_.cluster.slice(slice).size_index;
    job.started = true;
    job.first_start = job.progress_from = {since};
    job.finish = {since + static_cast<std::int64_t>(job.time[job.size_index])};
    return handle;
  }
  std::optional<PreemptionPlanner::Displacement> displacement(std::vector<JobHandle> waiting) {
    planner_.begin(fleet_.view);
    return planner_.best_displacement(fleet_.view, waiting);
  }
  static SliceId at(std::uint32_t gpu, std::uint8_t start) {
    return cluster::slice_id(GpuId{gpu}, start);
  }

  Fleet fleet_;
  PreemptionPlanner planner_;
  std::uint32_t next_id_ = 0;
};

// At 500 half of the runner's work is left; the other needs 100 and would be done at 1100.
TEST_F(PreemptionPlannerTest, AWaitingJobDisplacesOneThatCanWait) {
  const JobHandle runner = run(kWholeGpuOnly, 5000, at(0, 0));
  const JobHandle other = add({-1, -1, -1, -1, 100}, 700);
  const auto best = displacement({other});
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->job, other);
  EXPECT_EQ(best->victim, runner);
  EXPECT_EQ(best->slice, at(0, 0));
  EXPECT_FALSE(best->left.valid());
}

TEST_F(PreemptionPlannerTest, TardinessMustFallByMoreThanTwoCosts) {
  run(kWholeGpuOnly, 5000, at(0, 0));
  const JobHandle by_20 = add({-1, -1, -1, -1, 100}, 1080);
  const JobHandle by_21 = add({-1, -1, -1, -1, 100}, 1079);
  EXPECT_FALSE(displacement({by_20}).has_value());
  EXPECT_TRUE(displacement({by_21}).has_value());
}

// Interrupted, it would be done after 100 + 10 + 500 instead of 500: 110 later. The other gains
// 120, less the cost to the one late job on one slice.
TEST_F(PreemptionPlannerTest, WhatTheVictimLosesCounts) {
  const JobHandle runner = run(kWholeGpuOnly, 1000, at(0, 0));
  const JobHandle other = add({-1, -1, -1, -1, 100}, 980);
  EXPECT_FALSE(displacement({other}).has_value());
  fleet_.jobs[runner].deadline = {1050};
  EXPECT_TRUE(displacement({other}).has_value());
}

TEST_F(PreemptionPlannerTest, NoJobIsDisplacedThatCannotBeResumed) {
  fleet_.jobs[run(kWholeGpuOnly, 5000, at(0, 0))].resumable = false;
  EXPECT_FALSE(displacement({add({-1, -1, -1, -1, 100}, 700)}).has_value());
}

TEST_F(PreemptionPlannerTest, NoJobIsDisplacedBeforeItHasRunForThreeCosts) {
  const JobHandle runner = run(kWholeGpuOnly, 5000, at(0, 0), 471);
  const JobHandle other = add({-1, -1, -1, -1, 100}, 700);
  EXPECT_FALSE(displacement({other}).has_value());
  fleet_.jobs[runner].progress_from = {470};
  fleet_.jobs[runner].finish = {1470};
  EXPECT_TRUE(displacement({other}).has_value());
}

// Layout 3: 4g.20gb:0, 2g.10gb:4, 1g.10gb:6.
class PlannerOnLayout3 : public PreemptionPlannerTest {
 protected:
  PlannerOnLayout3() : PreemptionPlannerTest(1, "3") {}
};

// Half done on the 2g, it would be done at 1000; on the 4g at 500 + 10 + 250.
TEST_F(PlannerOnLayout3, ALateJobMovesToAnIdleSlice) {
  const JobHandle late = run({-1, 1000, -1, 500, -1}, 900, at(0, 4));
  planner_.begin(fleet_.view);
  const auto best = planner_.best_upgrade(fleet_.view);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->job, late);
  EXPECT_EQ(best->to, at(0, 0));
  planner_.upgraded(fleet_.view, *best);
  EXPECT_FALSE(planner_.best_upgrade(fleet_.view).has_value());
}

// Earlier by 240, which is less than thirty costs.
TEST_F(PlannerOnLayout3, AJobThatIsOnTimeStaysUnlessItIsDoneMuchEarlier) {
  const JobHandle job = run({-1, 1000, -1, 500, -1}, 1000, at(0, 4));
  planner_.begin(fleet_.view);
  EXPECT_FALSE(planner_.best_upgrade(fleet_.view).has_value());
  // 7 to move, 250 to run: 243 earlier are more than thirty times 7. Energy: 200 * 257 W us there,
  // 120 * 500 here.
  fleet_.view.preemption.cost = {7};
  planner_.begin(fleet_.view);
  EXPECT_TRUE(planner_.best_upgrade(fleet_.view).has_value());
  // With 300 to run and 6 to move it is earlier by 194, but 200 * 306 are more than 120 * 500.
  fleet_.view.preemption.cost = {6};
  fleet_.jobs[job].time[3] = 600;
  planner_.begin(fleet_.view);
  EXPECT_FALSE(planner_.best_upgrade(fleet_.view).has_value());
}

// 8 to move and 252 or 251 to run, instead of 500 where it is.
TEST_F(PlannerOnLayout3, MuchEarlierIsMoreThanThirtyCosts) {
  const JobHandle job = run({-1, 1000, -1, 504, -1}, 1000, at(0, 4));
  fleet_.view.preemption.cost = {8};
  planner_.begin(fleet_.view);
  EXPECT_FALSE(planner_.best_upgrade(fleet_.view).has_value());
  fleet_.jobs[job].time[3] = 502;
  planner_.begin(fleet_.view);
  EXPECT_TRUE(planner_.best_upgrade(fleet_.view).has_value());
}

// The late one is done at 1000 and wants the 4g; its holder has time, and can have the 2g.
TEST_F(PlannerOnLayout3, ALateJobSwapsWithOneThatHasSlack) {
  const JobHandle late = run({-1, 1000, -1, 500, -1}, 900, at(0, 4));
  const JobHandle other = run({-1, 2000, -1, 1000, -1}, 9000, at(0, 0));
  const auto best = displacement({});
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->job, late);
  EXPECT_EQ(best->victim, other);
  EXPECT_EQ(best->slice, at(0, 0));
  EXPECT_EQ(best->left, at(0, 4));
}

// What starts in the same decision has nothing to lose: it needs no restart elsewhere.
TEST_F(PlannerOnLayout3, AJobThatStartsMayDisplaceInstead) {
  const JobHandle other = run({-1, 2000, -1, 1000, -1}, 9000, at(0, 0));
  const JobHandle starter = add({-1, 400, -1, 200, -1}, 700);
  planner_.begin(fleet_.view);
  planner_.started(fleet_.view, starter, at(0, 4));
  const auto best = planner_.best_displacement(fleet_.view, {});
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->job, starter);
  EXPECT_EQ(best->victim, other);
  EXPECT_EQ(best->left, at(0, 4));
  planner_.displaced(fleet_.view, *best);
  EXPECT_FALSE(planner_.best_displacement(fleet_.view, {}).has_value()) << "once is enough";
}

// Layout 1, 7g.40gb:0, and layout 2, 4g.20gb:0 and 3g.20gb:4.
class PlannerOnTwoGpus : public PreemptionPlannerTest {
 protected:
  PlannerOnTwoGpus() : PreemptionPlannerTest(2, "1,2") {}
};

// The first job leaves the 7g, which nobody uses then: the second may have it, and its energy is
// reckoned with a GPU that is idle.
TEST_F(PlannerOnTwoGpus, ASliceLeftInTheSameDecisionIsIdle) {
  const JobHandle first = run({-1, -1, -1, 100, 2000}, 600, at(0, 0));
  const JobHandle second = run({-1, -1, 100'000, -1, 10}, 200'000, at(1, 4));
  planner_.begin(fleet_.view);
  const auto one = planner_.best_upgrade(fleet_.view);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->job, first);
  EXPECT_EQ(one->to, at(1, 0));
  planner_.upgraded(fleet_.view, *one);
  const auto two = planner_.best_upgrade(fleet_.view);
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->job, second);
  EXPECT_EQ(two->to, at(0, 0));
}

}  // namespace
}  // namespace partita::policies
