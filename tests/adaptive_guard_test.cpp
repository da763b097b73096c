// The guards over adaptive policies in whole runs: nobody is stranded, what loses is left, what
// pays is followed, and what was never seen is not trusted.
#include <gtest/gtest.h>

#include <memory>

#include "base/rng.h"
#include "cases/case.h"
#include "cases/papers_day.h"
#include "cases/random_case.h"
#include "policies/guard_note.h"
#include "policies/learned/guarded_scheduler.h"
#include "policies/registry.h"
#include "policies/repartitioners/guarded.h"
#include "policies/repartitioners/static_layouts.h"
#include "sim/engine.h"
#include "sim/rollout.h"

namespace partita {
namespace {

using Mode = decide::Preemption::Mode;
using Requests = std::vector<decide::LayoutRequest>;

const mig::GpuModel& a100() {
  return **mig::find_gpu("a100-40gb");
}

std::vector<mig::Layout> all_of(int number, std::uint32_t gpus) {
  return std::vector<mig::Layout>(gpus, *mig::numbered_layout(a100(), number));
}

std::vector<mig::Layout> numbered() {
  std::vector<mig::Layout> layouts;
  for (int i = 1; i <= mig::numbered_layouts_count(a100()); ++i) {
    layouts.push_back(*mig::numbered_layout(a100(), i));
  }
  return layouts;
}

// Wants these layouts for ever, whatever comes of it.
class Stubborn : public decide::Repartitioner {
 public:
  explicit Stubborn(std::vector<mig::Layout> layouts) : layouts_(std::move(layouts)) {}

  std::vector<mig::Layout> initial_layouts(const decide::View&) override { return layouts_; }
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return 5; }
  void decide(const decide::View&, Requests& requests) override {
    for (std::uint32_t gpu = 0; gpu < layouts_.size(); ++gpu) {
      requests.push_back({GpuId{gpu}, layouts_[gpu]});
    }
  }

 private:
  std::vector<mig::Layout> layouts_;
};

sim::RunOptions options_for(std::uint32_t gpus, Mode mode) {
  sim::RunOptions options;
  options.model = &a100();
  options.gpus = gpus;
  options.power = &a100().power_curves.front();
  options.preemption.mode = mode;
  return options;
}

Result<sim::RunResult> run(const workload::Trace& trace, const sim::RunOptions& options,
                           decide::Repartitioner& repartitioner) {
  const auto scheduler = policies::make_scheduler("mdd", 1);
  const auto ahead = policies::make_scheduler("mdd", 1);
  sim::RunExtras extras;
  extras.forecast_scheduler = ahead->get();
  return sim::simulate(trace, options, **scheduler, repartitioner, extras);
}

policies::GuardOptions guard_with(std::vector<mig::Layout> base, double loss_max) {
  policies::GuardOptions guard;
  guard.base = std::move(base);
  guard.relief = numbered();
  guard.loss_max = loss_max;
  return guard;
}

// A run in the middle of which a what-if run begins that is told all that happens from then on.
struct Followed {
  Followed(const cases::Case& each, std::uint64_t seed)
      : options(cases::options_of(each)),
        scheduler(*policies::make_scheduler(each.scheduler, each.seed)),
        copies(*policies::make_scheduler(each.scheduler, each.seed)),
        clock(options, *scheduler),
        rollout(clock, options, *copies),
        jobs(each.trace.jobs),
        rng(seed, 7) {
    for (std::uint32_t i = 0; i < each.layouts.size(); ++i) {
      cluster::place_layout(clock.world.cluster, GpuId{i}, each.layouts[i]);
    }
    clock.set_arrivals(jobs, JobId{0});
    clock.world.counts.job_records.resize(jobs.size());
    scheduler->begin(clock.view);
  }

  bool step(decide::WhatIfRun* what_if) {
    const Micros next = clock.next_event();
    if (next == Micros::max()) return false;
    const std::size_t before = clock.arrived();
    clock.advance_to(next);
    for (std::size_t i = before; what_if != nullptr && i < clock.arrived(); ++i) {
      what_if->add_job(jobs[i]);
    }
    if (what_if != nullptr && rng.below(5) == 0) what_if->cost_until(clock.world.now, {});
    if (rng.below(4) == 0) ask(what_if);
    clock.decide();
    return true;
  }

  // Before the decision of an instant, as a policy does.
  std::unique_ptr<decide::WhatIfRun> begin_what_if() {
    clock.advance_to(clock.next_event());
    auto what_if = rollout.what_if_run({});
    clock.decide();
    return what_if;
  }

  void ask(decide::WhatIfRun* what_if) {
    const auto layouts = static_cast<std::uint64_t>(mig::numbered_layouts_count(*options.model));
    const decide::LayoutRequest request{
        GpuId{static_cast<std::uint32_t>(rng.below(options.gpus))},
        *mig::numbered_layout(*options.model, static_cast<int>(rng.below(layouts)) + 1)};
    clock.changes.request(request.gpu, request.layout);
    if (what_if != nullptr) what_if->request(clock.world.now, request);
  }

  double joules() {
    clock.world.meter.close(clock.world.now);
    return clock.world.meter.joules(*options.power);
  }

  sim::RunOptions options;
  std::unique_ptr<decide::Scheduler> scheduler;
  std::unique_ptr<decide::Scheduler> copies;
  sim::Clockwork clock;
  sim::Rollout rollout;
  std::vector<workload::Job> jobs;
  Rng rng;
};

TEST(WhatIfRun, ToldWhatHappensItCostsWhatTheRunCosts) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const cases::Case each = cases::random_case(
        {.seed = seed, .scheduler = seed % 2 == 0 ? "mdd" : "cedf", .may_be_stuck = false});
    Followed run(each, seed);
    for (int i = 0; i < 5; ++i) run.step(nullptr);
    if (run.clock.next_event() == Micros::max()) continue;
    const auto what_if = run.begin_what_if();
    const double joules_before = run.joules();
    const Micros tardiness_before = run.clock.world.tally.tardiness_sum();
    while (run.clock.arrivals_left() || run.clock.world.jobs.size() > 0) {
      if (!run.step(what_if.get())) break;
    }
    if (run.clock.world.jobs.size() > 0) continue;  // a layout asked for has stranded a job
    const decide::WhatIfCost cost = what_if->cost_until(run.clock.world.now, {});
    const double tardiness =
        (run.clock.world.tally.tardiness_sum() - tardiness_before).to_seconds();
    EXPECT_DOUBLE_EQ(cost.tardiness_s, tardiness);
    EXPECT_NEAR(cost.energy_j, run.joules() - joules_before, 1e-6 * cost.energy_j);
    ++compared;
  }
  EXPECT_GT(compared, 60);
}

// Every tenth job needs a whole GPU; the one that is asked has slices of a seventh only.
workload::Trace day_with_large_jobs() {
  workload::Trace trace = cases::papers_day({.rate = 5, .hours = 5}, 3'000'001);
  for (std::size_t i = 0; i < trace.jobs.size(); i += 10) trace.jobs[i].memory_gib = 30;
  trace.jobs.back().memory_gib = 30;
  return trace;
}

TEST(Guarded, NoJobIsLeftWithoutASliceWhateverIsAskedFor) {
  const workload::Trace trace = day_with_large_jobs();
  for (const Mode mode : {Mode::kFree, Mode::kNone, Mode::kCost}) {
    const sim::RunOptions options = options_for(2, mode);
    Stubborn alone(all_of(12, 2));
    EXPECT_FALSE(run(trace, options, alone).ok());
    policies::Guarded guarded(std::make_unique<Stubborn>(all_of(12, 2)), guard_with({}, -1));
    const auto result = run(trace, options, guarded);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->jobs, trace.jobs.size());
  }
}

TEST(Guarded, ATimetableThatStrandsJobsIsNotFollowedThere) {
  const workload::Trace trace = day_with_large_jobs();
  for (const Mode mode : {Mode::kFree, Mode::kNone}) {
    const auto timetable =
        policies::make_repartitioner("timetable:00:00=1,01:00=12,03:00=9", a100(), 2);
    ASSERT_TRUE(timetable.ok());
    const auto result = run(trace, options_for(2, mode), **timetable);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->jobs, trace.jobs.size());
  }
}

// Whole GPUs are right for a handful of jobs that scale, sevenths are not.
TEST(Guarded, WhatLosesIsLeftForTheBase) {
  const workload::Trace trace = cases::papers_day({.rate = 4, .hours = 24}, 3'000'002);
  const sim::RunOptions options = options_for(4, Mode::kNone);
  policies::StaticLayouts base(all_of(1, 4));
  Stubborn alone(all_of(12, 4));
  policies::Guarded guarded(std::make_unique<Stubborn>(all_of(12, 4)),
                            guard_with(all_of(1, 4), 0.01));
  const double et_base = run(trace, options, base)->et;
  EXPECT_GT(run(trace, options, alone)->et, 1.5 * et_base);
  EXPECT_LT(run(trace, options, guarded)->et, 1.02 * et_base);
  EXPECT_GT(guarded.fallbacks(), 0U);
  EXPECT_NE(guarded.take_note().find("keeping the base layouts"), std::string::npos);
  EXPECT_EQ(guarded.take_note(), "");
}

TEST(Guarded, WhatPaysIsFollowed) {
  const workload::Trace trace = cases::papers_day({.rate = 4, .hours = 24}, 3'000'002);
  const sim::RunOptions options = options_for(4, Mode::kNone);
  policies::StaticLayouts base(all_of(12, 4));
  policies::Guarded guarded(std::make_unique<Stubborn>(all_of(1, 4)),
                            guard_with(all_of(12, 4), 0.01));
  EXPECT_LT(run(trace, options, guarded)->et, 0.6 * run(trace, options, base)->et);
  EXPECT_EQ(guarded.fallbacks(), 0U);
}

TEST(Guarded, WhoDoesNotKnowWhatItSeesIsNotFollowed) {
  const workload::Trace trace = cases::papers_day({.rate = 4, .hours = 5}, 3'000'003);
  const sim::RunOptions options = options_for(4, Mode::kNone);
  policies::StaticLayouts base(all_of(2, 4));
  policies::GuardOptions guard = guard_with(all_of(2, 4), -1);
  guard.trust = [] { return policies::Trust::kNo; };
  policies::Guarded guarded(std::make_unique<Stubborn>(all_of(1, 4)), std::move(guard));
  const auto with = run(trace, options, guarded);
  EXPECT_EQ(with->et, run(trace, options, base)->et);
  EXPECT_EQ(with->repartitions, 0U);
  EXPECT_EQ(guarded.fallbacks(), 1U) << "said once, not at every turn";
}

// Reads the log at every turn, as a daemon does.
class Reading : public Stubborn {
 public:
  Reading(policies::Guarded& guarded, std::vector<std::string>& log)
      : Stubborn({}), guarded_(guarded), log_(log) {}

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
    return guarded_.initial_layouts(view);
  }
  void decide(const decide::View& view, Requests& requests) override {
    guarded_.decide(view, requests);
    if (std::string note = guarded_.take_note(); !note.empty()) log_.push_back(std::move(note));
  }

 private:
  policies::Guarded& guarded_;
  std::vector<std::string>& log_;
};

TEST(Guarded, SaysOnceWhenItTripsAndOnceWhenItIsReleased) {
  const workload::Trace trace = cases::papers_day({.rate = 4, .hours = 5}, 3'000'003);
  policies::GuardOptions guard = guard_with(all_of(2, 4), -1);
  int turns = 0;
  guard.trust = [&] {
    ++turns;
    const bool strange = (turns > 10 && turns < 20) || (turns > 30 && turns < 40);
    return strange ? policies::Trust::kNo : policies::Trust::kYes;
  };
  policies::Guarded guarded(std::make_unique<Stubborn>(all_of(1, 4)), std::move(guard));
  std::vector<std::string> log;
  Reading reading(guarded, log);
  ASSERT_TRUE(run(trace, options_for(4, Mode::kNone), reading).ok());
  ASSERT_GT(turns, 50);
  ASSERT_EQ(log.size(), 4U);
  for (const std::size_t trip : {0U, 2U}) {
    EXPECT_NE(log[trip].find("the model sees what it was not trained on; keeping the base layouts"),
              std::string::npos);
    EXPECT_NE(log[trip + 1].find("the base layouts are left again"), std::string::npos);
  }
}

TEST(Guarded, ALogWithTheTimeOfDayGetsNoTimeOfTheRun) {
  EXPECT_EQ(policies::guard_note(Micros::seconds(90), "tripped"), "at 90 s: tripped");
  EXPECT_EQ(policies::guard_note(Micros::seconds(1'800'000'000), "tripped"), "tripped");
}

// What a repartitioner begins with is kept until it is known whether it knows what it sees.
TEST(Guarded, ABaseThatIsNotBegunWithIsTakenWhenTheGuardTripsAndNotBefore) {
  const workload::Trace trace = cases::papers_day({.rate = 4, .hours = 5}, 3'000'003);
  const sim::RunOptions options = options_for(4, Mode::kNone);
  const auto guarded_with = [&](policies::Trust trust) {
    policies::GuardOptions guard = guard_with(all_of(2, 4), -1);
    guard.begins_with_base = false;
    guard.trust = [trust] { return trust; };
    policies::Guarded guarded(std::make_unique<Stubborn>(all_of(1, 4)), std::move(guard));
    return *run(trace, options, guarded);
  };
  policies::StaticLayouts whole(all_of(1, 4));
  const double et_whole = run(trace, options, whole)->et;
  for (const policies::Trust trust : {policies::Trust::kUnknown, policies::Trust::kYes}) {
    EXPECT_EQ(guarded_with(trust).et, et_whole);
    EXPECT_EQ(guarded_with(trust).repartitions, 0U);
  }
  EXPECT_EQ(guarded_with(policies::Trust::kNo).repartitions, 4U);
}

// Counts the what-if runs it was asked for.
class Counting : public decide::Forecaster {
 public:
  decide::ForecastCost forecast(const decide::ForecastQuestion&) override { return {}; }
  std::unique_ptr<decide::WhatIfRun> what_if_run(std::span<const GpuId>) override {
    ++runs;
    return std::make_unique<Free>();
  }

  int runs = 0;

 private:
  class Free : public decide::WhatIfRun {
   public:
    void add_job(const workload::Job&) override {}
    void request(Micros, const decide::LayoutRequest&) override {}
    decide::WhatIfCost cost_until(Micros, std::span<const mig::Layout>) override { return {1, 0}; }
  };
};

struct Crowd {
  explicit Crowd(std::uint32_t gpus) : options(options_for(gpus, Mode::kNone)), world(options) {}

  void fill(std::size_t count) {
    workload::Job job;
    job.time.fill(Micros::seconds(10));
    while (world.jobs.size() < count) world.add_job(job, JobId{next++}, 1);
    while (world.jobs.size() > count) world.jobs.remove(cluster::JobHandle{--next});
  }
  decide::View view() {
    return {.now = world.now,
            .cluster = world.cluster,
            .jobs = world.jobs,
            .preemption = options.preemption,
            .power = *options.power,
            .et_a = options.et_a,
            .forecaster = &forecaster};
  }

  sim::RunOptions options;
  sim::World world;
  Counting forecaster;
  std::uint32_t next = 0;
};

TEST(LossWatch, HasTooManyJobsBeyondSoManyForEachSixteenGpus) {
  for (const auto& [gpus, jobs_max] :
       {std::pair<std::uint32_t, std::size_t>{1, 2'000}, {16, 2'000}, {17, 4'000}, {40, 6'000}}) {
    const policies::LossWatch watch(all_of(1, gpus));
    Crowd crowd(gpus);
    crowd.fill(jobs_max);
    EXPECT_FALSE(watch.too_many_jobs(crowd.view())) << gpus;
    crowd.fill(jobs_max + 1);
    EXPECT_TRUE(watch.too_many_jobs(crowd.view())) << gpus;
  }
}

TEST(LossWatch, SaysNothingWhileThereAreTooManyJobsAndBeginsAnewAfterThem) {
  policies::LossWatch watch(all_of(1, 2));
  Crowd crowd(2);
  const auto come = [&] {
    for (std::uint64_t i = 0; i < policies::LossWatch::kJobsMin; ++i) {
      watch.job_arrived(crowd.world.jobs[cluster::JobHandle{0}]);
    }
    crowd.world.now += Micros::seconds(60);
  };
  crowd.fill(policies::LossWatch::kJobsMax);
  EXPECT_FALSE(watch.standing(crowd.view())) << "it has only begun";
  come();
  EXPECT_TRUE(watch.standing(crowd.view()));
  EXPECT_EQ(crowd.forecaster.runs, 2);

  crowd.fill(policies::LossWatch::kJobsMax + 1);
  come();
  EXPECT_FALSE(watch.standing(crowd.view()));
  EXPECT_EQ(crowd.forecaster.runs, 2);
  EXPECT_TRUE(watch.due(crowd.view())) << "it is to begin as soon as it can";

  crowd.fill(policies::LossWatch::kJobsMax);
  EXPECT_FALSE(watch.standing(crowd.view())) << "what was before is forgotten";
  EXPECT_EQ(crowd.forecaster.runs, 4);
  come();
  EXPECT_TRUE(watch.standing(crowd.view()));
}

TEST(Guarded, TheSameRunTwiceIsTheSame) {
  const workload::Trace trace = cases::papers_day({.rate = 4, .hours = 24}, 3'000'004);
  const sim::RunOptions options = options_for(4, Mode::kNone);
  policies::Guarded guarded(std::make_unique<Stubborn>(all_of(12, 4)),
                            guard_with(all_of(1, 4), 0.01));
  const double first = run(trace, options, guarded)->et;
  EXPECT_EQ(run(trace, options, guarded)->et, first);
}

// A network that adds 0 to the rule it corrects, but never waits and has a record.
nn::Model place_model(float low, float high) {
  policies::PlaceRules rules;
  rules.gpu = "a100-40gb";
  nn::Model model;
  policies::write_rules(rules, model.facts);
  model.policy = nn::Network(nn::Shape{{rules.inputs(), rules.outputs()}, nn::Activation::kTanh});
  const auto inputs = static_cast<std::size_t>(rules.inputs());
  model.policy.biases(0)[0] = -100;  // so it always waits unless nothing runs
  model.seen = {std::vector<float>(inputs, low), std::vector<float>(inputs, high)};
  return model;
}

double et_of(const workload::Trace& trace, decide::Scheduler& scheduler) {
  policies::StaticLayouts layouts(all_of(2, 4));
  const auto result =
      sim::simulate(trace, options_for(4, Mode::kNone), scheduler, layouts, sim::RunExtras());
  EXPECT_TRUE(result.ok());
  return result->et;
}

TEST(GuardedScheduler, OutsideOfItsRecordItIsModifiedDueDateAndInsideTheModel) {
  const workload::Trace trace = cases::papers_day({.rate = 6, .hours = 10}, 3'000'005);
  const auto guarded = [&](float low, float high) {
    const nn::Model model = place_model(low, high);
    return std::make_unique<policies::GuardedScheduler>(model, *policies::read_place_rules(model),
                                                        *policies::make_scheduler("mdd", 1));
  };
  const auto mdd = policies::make_scheduler("mdd", 1);
  const double base = et_of(trace, **mdd);
  const auto stranger = guarded(50, 51);
  EXPECT_EQ(et_of(trace, *stranger), base);
  EXPECT_FALSE(stranger->follows_model());
  const auto at_home = guarded(-10, 10);
  EXPECT_GT(et_of(trace, *at_home), 2 * base) << "the model of this test makes jobs wait";
  EXPECT_TRUE(at_home->follows_model());
}

}  // namespace
}  // namespace partita
