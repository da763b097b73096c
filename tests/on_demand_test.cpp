// On-demand slicing: every job gets exactly the profile it asks for, and nothing stays that nobody
// uses.
#include <gtest/gtest.h>

#include "cases/case.h"
#include "cases/papers_day.h"
#include "policies/registry.h"
#include "policies/request.h"
#include "sim/engine.h"

namespace partita {
namespace {

class OnDemandRun : public testing::TestWithParam<const char*> {
 protected:
  OnDemandRun() {
    trace_ = cases::papers_day({.rate = 6, .hours = 6}, 11);
    options_.model = *mig::find_gpu("a100-40gb");
    options_.power = &options_.model->power_curves.front();
    options_.gpus = 3;
    options_.preemption.mode = decide::Preemption::Mode::kNone;
    options_.keep_jobs = options_.keep_schedule = true;
    const auto scheduler = policies::make_scheduler("fifo+requested", 1);
    const auto repartitioner =
        policies::make_repartitioner(GetParam(), *options_.model, options_.gpus);
    result_ = *sim::simulate(trace_, options_, **scheduler, **repartitioner);
  }

  workload::Trace trace_;
  sim::RunOptions options_;
  sim::RunResult result_;
};

TEST_P(OnDemandRun, GivesEveryJobTheProfileItAsksFor) {
  ASSERT_EQ(result_.jobs, trace_.jobs.size());
  ASSERT_EQ(result_.schedule.size(), trace_.jobs.size());
  const cluster::ProfileFits fits(*options_.model);
  for (const sim::SchedulePiece& piece : result_.schedule) {
    const workload::Job& job = trace_.jobs[piece.id.value];
    const decide::ActiveJob active = decide::make_active(job, piece.id, fits(job));
    EXPECT_EQ(piece.profile, policies::requested_profile(*options_.model, active));
  }
}

TEST_P(OnDemandRun, MakesAndUnmakesInstancesWithTheWork) {
  EXPECT_GT(result_.instances_created, 50U);
  EXPECT_LE(result_.instances_created - result_.instances_destroyed, 3U * 7);
  // The GPUs begin empty.
  EXPECT_TRUE(result_.layouts.front().layout.empty());
}

INSTANTIATE_TEST_SUITE_P(Placements, OnDemandRun,
                         testing::Values("ondemand", "ondemand:least-fragmenting"),
                         [](const auto& each) {
                           return std::string(each.param) == "ondemand" ? "FirstFit"
                                                                        : "LeastFragmenting";
                         });

}  // namespace
}  // namespace partita
