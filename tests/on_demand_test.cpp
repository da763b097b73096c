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
    half_speed_ = std::string_view(GetParam()).ends_with("half-speed");
    const auto scheduler =
        policies::make_scheduler(half_speed_ ? "fifo+half-speed" : "fifo+requested", 1);
    const auto repartitioner =
        policies::make_repartitioner(GetParam(), *options_.model, options_.gpus);
    result_ = *sim::simulate(trace_, options_, **scheduler, **repartitioner);
  }

  std::uint16_t asked(const decide::ActiveJob& job) const {
    return half_speed_ ? policies::half_speed_profile(*options_.model, job)
                       : policies::only_requested_profile(*options_.model, job);
  }

  bool half_speed_ = false;
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
    EXPECT_EQ(1U << piece.profile, asked(active));
  }
}

TEST_P(OnDemandRun, MakesAndUnmakesInstancesWithTheWork) {
  EXPECT_GT(result_.instances_created, 50U);
  EXPECT_LE(result_.instances_created - result_.instances_destroyed, 3U * 7);
  // The GPUs begin empty.
  EXPECT_TRUE(result_.layouts.front().layout.empty());
}

std::string name_of(const testing::TestParamInfo<const char*>& each) {
  const std::string_view rule = each.param;
  if (rule.ends_with("half-speed")) return "HalfSpeed";
  return rule == "ondemand" ? "FirstFit" : "LeastFragmenting";
}

INSTANTIATE_TEST_SUITE_P(Placements, OnDemandRun,
                         testing::Values("ondemand", "ondemand:least-fragmenting",
                                         "ondemand:first-fit,half-speed"),
                         name_of);

// Half as fast as can be is enough, and no smaller profile is.
TEST(HalfSpeed, IsTheSmallestProfileThatIsAtLeastHalfAsFast) {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  const cluster::ProfileFits fits(model);
  for (const workload::Job& job : cases::papers_day({.rate = 2, .hours = 4}, 5).jobs) {
    const auto active = decide::make_active(job, JobId{0}, fits(job));
    const unsigned asked = policies::half_speed_profile(model, active);
    for (std::size_t i = 0; i < model.profiles.size(); ++i) {
      const auto size = workload::slice_size_index(model.profiles[i].compute_slices);
      const bool fast = active.time[*size] <= 2 * active.fastest_time();
      if (1U << i == asked) {
        EXPECT_TRUE(fast);
      }
      if (1U << i < asked) {
        EXPECT_FALSE(fast && (active.fits >> i & 1U) != 0);
      }
    }
  }
}

}  // namespace
}  // namespace partita
