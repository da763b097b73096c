// Forecasts from what policies see: in the middle of a run they are those of the run's own
// forecaster; and where a real cluster shows what no run does, they still say what follows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/rng.h"
#include "cases/case.h"
#include "cases/random_case.h"
#include "policies/registry.h"
#include "sim/view_rollout.h"

namespace partita {
namespace {

using cluster::JobHandle;
using cluster::SliceId;
using cluster::SliceState;

constexpr sim::ViewRolloutLimits kNoLimits{1'000'000, 1'000'000};
constexpr Micros kFar = Micros::seconds(1'000'000'000);

// A run whose GPUs are asked for other layouts now and then, stopped at an instant.
class WatchedRun {
 public:
  WatchedRun(const cases::Case& each, std::uint64_t seed)
      : trace_(each.trace),
        options_(cases::options_of(each)),
        scheduler_(*policies::make_scheduler(each.scheduler, each.seed)),
        copies_(*policies::make_scheduler(each.scheduler, each.seed)),
        clock_(options_, *scheduler_),
        own_(clock_, options_, *copies_),
        from_view_(*policies::make_scheduler(each.scheduler, each.seed), kNoLimits,
                   each.repartition_cost),
        rng_(seed, 5) {
    for (std::uint32_t i = 0; i < each.layouts.size(); ++i) {
      cluster::place_layout(clock_.world.cluster, GpuId{i}, each.layouts[i]);
    }
    clock_.set_arrivals(trace_.jobs, JobId{0});
    clock_.world.counts.job_records.resize(trace_.jobs.size());
    scheduler_->begin(clock_.view);
  }

  // Runs to the end, or for so many instants, and asks at every one.
  void go(int instants) {
    for (int i = 0; i < instants && !testing::Test::HasFailure(); ++i) {
      const Micros next = clock_.next_event();
      if (next == Micros::max()) return;
      clock_.advance_to(next);
      note_steps();
      if (rng_.below(3) == 0) clock_.changes.request(any_gpu(), any_layout());
      note_steps();
      compare();
      clock_.decide();
    }
  }

  int asked = 0;
  int asked_in_step = 0;  // while an instance was being made or unmade
  int broken_off = 0;

 private:
  GpuId any_gpu() { return {static_cast<std::uint32_t>(rng_.below(options_.gpus))}; }
  mig::Layout any_layout() {
    const auto count = static_cast<std::uint64_t>(mig::numbered_layouts_count(*options_.model));
    return *mig::numbered_layout(*options_.model, static_cast<int>(rng_.below(count)) + 1);
  }

  // When each step began, seen from outside.
  void note_steps() {
    for (std::uint32_t i = 0; i < clock_.world.cluster.slices.size(); ++i) {
      const SliceState state = clock_.world.cluster.slice(SliceId{i}).state;
      const bool step = state == SliceState::kCreating || state == SliceState::kDestroying;
      if (!step) {
        began_.erase(i);
      } else if (!began_.contains(i) || began_[i].first != state) {
        began_[i] = {state, clock_.world.now};
      }
    }
  }

  std::vector<decide::LayoutCourse> courses() {
    std::vector<decide::LayoutCourse> courses(options_.gpus);
    for (std::uint32_t i = 0; i < options_.gpus; ++i) {
      const mig::Layout& target = clock_.changes.target(GpuId{i});
      if (target != clock_.world.cluster.gpus[i].layout) courses[i].target = target;
    }
    for (const auto& [slice, step] : began_) {
      const GpuId gpu = cluster::gpu_of(SliceId{slice});
      courses[gpu.value].step_began = step.second;
      // What is being unmade may be wanted again by now.
      courses[gpu.value].target = clock_.changes.target(gpu);
    }
    return courses;
  }

  void compare() {
    const std::vector<decide::LayoutCourse> shown = courses();
    from_view_.take_position(clock_.view, shown, {});
    std::vector<workload::Job> future;
    for (const workload::Job& job : trace_.jobs) {
      if (job.arrival > clock_.world.now && rng_.below(4) > 0) future.push_back(job);
    }
    for (int question = 0; question < 2; ++question) {
      std::vector<decide::LayoutRequest> requests;
      std::vector<GpuId> part;
      for (std::uint32_t i = 0; i < options_.gpus; ++i) {
        const bool in_part = rng_.below(3) > 0;
        if (in_part) part.push_back(GpuId{i});
        if (in_part && rng_.below(3) == 0) requests.push_back({GpuId{i}, any_layout()});
      }
      decide::ForecastQuestion asks{.requests = requests, .arrivals = future, .until = kFar};
      if (rng_.below(2) == 0) asks.until = clock_.world.now + Micros::seconds(100);
      if (rng_.below(2) == 0 && !part.empty()) asks.gpus = part;
      if (rng_.below(2) == 0) asks.limit = decide::CostLimit{1e-6, 1e-3, rng_.uniform(0, 1)};
      expect_equal(asks);
    }
    asked_in_step += began_.empty() ? 0 : 1;
  }

  // Sums of doubles are rounded elsewhere: energy is a difference of two readings of a meter, and
  // the run's has run since the beginning; what is left in the end is summed in another order.
  void expect_equal(const decide::ForecastQuestion& question) {
    const decide::ForecastCost own = own_.forecast(question);
    const decide::ForecastCost seen = from_view_.forecast(question);
    EXPECT_EQ(seen.events, own.events);
    EXPECT_NEAR(seen.tardiness_s, own.tardiness_s, 1e-12 * (1 + own.tardiness_s));
    EXPECT_EQ(seen.over_limit, own.over_limit);
    EXPECT_NEAR(seen.energy_j, own.energy_j, 1e-3 + 1e-9 * own.energy_j);
    ++asked;
    broken_off += own.over_limit ? 1 : 0;
  }

  const workload::Trace& trace_;
  sim::RunOptions options_;
  std::unique_ptr<decide::Scheduler> scheduler_;
  std::unique_ptr<decide::Scheduler> copies_;
  sim::Clockwork clock_;
  sim::Rollout own_;
  sim::ViewRollout from_view_;
  Rng rng_;
  std::map<std::uint32_t, std::pair<SliceState, Micros>> began_;  // by slice
};

TEST(ViewForecast, InTheMiddleOfARunIsThatOfTheRun) {
  int asked = 0;
  int in_step = 0;
  int broken_off = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    for (const char* scheduler : {"cedf", "edf-ss", "mdd+slowest", "met", "fifo+tightest"}) {
      cases::Case each =
          cases::random_case({.seed = seed, .scheduler = scheduler, .may_be_stuck = false});
      SCOPED_TRACE(cases::to_text(each));
      WatchedRun run(each, seed);
      run.go(60);
      if (HasFailure()) return;
      asked += run.asked;
      in_step += run.asked_in_step;
      broken_off += run.broken_off;
    }
  }
  EXPECT_GT(asked, 10'000);
  EXPECT_GT(in_step, 1'000);
  EXPECT_GT(broken_off, 100);
}

// What a controller shows: jobs with estimates, slices that are not its own, instants of this age.
struct Shown {
  explicit Shown(std::uint32_t gpus, std::string_view gpu = "a100-40gb")
      : model(**mig::find_gpu(gpu)), cluster(model, gpus), courses(gpus) {}

  decide::View view() const {
    return {.now = now,
            .cluster = cluster,
            .jobs = jobs,
            .preemption = {decide::Preemption::Mode::kNone, Micros{}},
            .power = model.power_curves.front(),
            .et_a = 2e-7};
  }
  void lay(std::uint32_t gpu, int number) {
    cluster::place_layout(cluster, GpuId{gpu}, *mig::numbered_layout(model, number));
  }
  JobHandle add(double seconds, Micros deadline) {
    workload::Job job;
    job.arrival = now;
    job.deadline = deadline;
    for (std::size_t i = 0; i < job.time.size(); ++i) {
      job.time[i] = micros_from_seconds(seconds / workload::kSliceSizes[i]);
    }
    return jobs.add(job, JobId{next_id++}, cluster::ProfileFits(model)(job));
  }
  void run(JobHandle handle, SliceId slice, Micros since) {
    cluster::start_job(cluster, slice, handle);
    decide::ActiveJob& job = jobs[handle];
    job.slice = slice;
    job.size_index = cluster.slice(slice).size_index;
    job.started = true;
    job.first_start = job.progress_from = since;
    job.finish = since + Micros{static_cast<std::int64_t>(job.time[job.size_index])};
  }
  // As the controller's Fleet shows what is not its to use.
  void keep_from_use(SliceId slice) {
    decide::ActiveJob phantom;
    phantom.id = JobId{4'000'000'000U - slice.value};
    phantom.slice = slice;
    phantom.finish = phantom.deadline = Micros::max();
    phantom.time.fill(1e18);
    phantom.fits = 0xff;
    phantom.size_index = cluster.slice(slice).size_index;
    phantom.started = true;
    cluster::start_job(cluster, slice, jobs.add(phantom));
  }
  SliceId slice(std::uint32_t gpu, std::uint8_t start) const {
    return cluster::slice_id(GpuId{gpu}, start);
  }
  decide::ForecastCost ask(const decide::ForecastQuestion& question,
                           sim::ViewRolloutLimits limits = {}) const {
    sim::ViewRollout rollout(*policies::make_scheduler("mdd+slowest", 1), limits);
    const decide::View seen = view();
    rollout.take_position(seen, courses, outlook);
    const decide::ForecastCost cost = rollout.forecast(question);
    const decide::ForecastCost again = rollout.forecast(question);
    EXPECT_EQ(cost.energy_j, again.energy_j);
    EXPECT_EQ(cost.events, again.events);
    return cost;
  }

  const mig::GpuModel& model;
  Micros now = Micros::seconds(1'800'000'000);
  std::uint32_t next_id = 1;
  cluster::ClusterState cluster;
  decide::ActiveJobs jobs;
  std::vector<decide::LayoutCourse> courses;
  decide::Outlook outlook;
};

TEST(ViewForecast, AJobThatHasOutlivedItsEstimateIsBelievedToNeedAsLongAgain) {
  for (const auto& [passed_s, believed_s] : {std::pair<std::int64_t, std::int64_t>{0, 100},
                                             {99, 100},
                                             {100, 200},
                                             {250, 400},
                                             {1'000'000'000, 1'677'721'600}}) {
    Shown shown(1);
    shown.lay(0, 1);
    const Micros since = shown.now - Micros::seconds(passed_s);
    shown.run(shown.add(700, shown.now), shown.slice(0, 0), since);
    const auto cost = shown.ask({.requests = {}, .arrivals = {}, .until = Micros::max()});
    EXPECT_DOUBLE_EQ(cost.tardiness_s, static_cast<double>(believed_s - passed_s));
    EXPECT_GT(cost.energy_j, 0);
  }
}

TEST(ViewForecast, AJobOfWhichMoreIsKnownHasSoMuchLeft) {
  for (const std::int64_t passed_s : {0, 40, 100, 1'000}) {
    for (const double left : {0.01, 0.5, 3.0}) {
      Shown shown(1);
      shown.lay(0, 1);
      const Micros since = shown.now - Micros::seconds(passed_s);
      const auto job = shown.add(700, shown.now);
      shown.run(job, shown.slice(0, 0), since);
      shown.outlook.work_left = [&](cluster::JobHandle asked) {
        EXPECT_EQ(asked, job);
        return left;
      };
      const auto cost = shown.ask({.requests = {}, .arrivals = {}, .until = Micros::max()});
      EXPECT_DOUBLE_EQ(cost.tardiness_s, 100 * left);
    }
  }
}

TEST(ViewForecast, JobsThatComeTakeWhatSuchJobsHaveTaken) {
  for (const double length : {0.25, 1.0, 3.0}) {
    Shown shown(1);
    shown.lay(0, 1);
    shown.outlook.newcomer_length = length;
    workload::Job job;
    job.arrival = job.deadline = shown.now + Micros::seconds(10);
    job.time.fill(Micros::seconds(100));
    const auto cost = shown.ask({.requests = {}, .arrivals = {&job, 1}, .until = Micros::max()});
    EXPECT_DOUBLE_EQ(cost.tardiness_s, 100 * length);
  }
}

// A GPU that is wholly kept from use is as good as none.
TEST(ViewForecast, WhatIsKeptFromUseIsNotThere) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    Shown alone(1);
    Shown both(2);
    const int number = 1 + static_cast<int>(rng.below(12));
    alone.lay(0, number);
    both.lay(0, number);
    both.lay(1, 1 + static_cast<int>(rng.below(12)));
    for (const mig::Placement each : both.cluster.gpus[1].layout.instances()) {
      both.keep_from_use(both.slice(1, each.start));
    }
    for (std::uint64_t i = 0; i < rng.below(20); ++i) {
      const double seconds = rng.uniform(1, 5'000);
      const Micros deadline = alone.now + micros_from_seconds(rng.uniform(0, 3'000));
      alone.add(seconds, deadline);
      both.add(seconds, deadline);
    }
    const std::vector<decide::LayoutRequest> one{
        {GpuId{0}, *mig::numbered_layout(alone.model, 1 + static_cast<int>(rng.below(12)))}};
    std::vector<decide::LayoutRequest> two = one;
    two.push_back({GpuId{1}, *mig::numbered_layout(alone.model, 3)});
    const Micros until = alone.now + Micros::seconds(20'000);
    const auto a = alone.ask({.requests = one, .arrivals = {}, .until = until});
    const auto b = both.ask({.requests = two, .arrivals = {}, .until = until});
    EXPECT_EQ(a.tardiness_s, b.tardiness_s) << "seed " << seed;
    EXPECT_EQ(a.events, b.events) << "seed " << seed;
    EXPECT_NEAR(a.energy_j, b.energy_j, 1e-3 + 1e-9 * a.energy_j) << "seed " << seed;
  }
}

TEST(ViewForecast, RequestsForGpusOutOfUseAreNotFollowed) {
  Shown shown(1);
  shown.lay(0, 1);
  for (int i = 0; i < 7; ++i) shown.add(700, shown.now);
  const decide::LayoutRequest other{GpuId{0}, *mig::numbered_layout(shown.model, 12)};
  const decide::ForecastQuestion stay{.requests = {}, .arrivals = {}, .until = Micros::max()};
  decide::ForecastQuestion change = stay;
  change.requests = {&other, 1};
  EXPECT_NE(shown.ask(change).tardiness_s, shown.ask(stay).tardiness_s);
  shown.courses[0].fixed = true;
  EXPECT_EQ(shown.ask(change).tardiness_s, shown.ask(stay).tardiness_s);
}

TEST(ViewForecast, LooksAtNoMoreJobsThanItsLimits) {
  Shown shown(2);
  shown.lay(0, 12);
  shown.lay(1, 1);
  for (int i = 0; i < 5'000; ++i) shown.add(10, shown.now);
  double largest = 0;
  for (const mig::Profile& profile : shown.model.profiles) {
    largest = std::max(largest, profile.memory_gib);
  }
  auto rounded = static_cast<float>(largest);
  if (static_cast<double>(rounded) <= largest) rounded = std::nextafter(rounded, 1e6F);
  std::vector<workload::Job> future;
  for (int i = 0; i < 3'000; ++i) {
    workload::Job job;
    job.arrival = job.deadline = shown.now + Micros{i};
    job.time.fill(Micros::seconds(1));
    // Rounded above the largest slice: it is taken to fit that.
    if (i % 2 == 0) job.memory_gib = rounded;
    future.push_back(job);
  }
  const auto cost = shown.ask({.requests = {}, .arrivals = future, .until = Micros::max()},
                              {.waiting_max = 40, .arrivals_max = 10});
  EXPECT_EQ(cost.events, 40U + 2 * 10U);
}

}  // namespace
}  // namespace partita
