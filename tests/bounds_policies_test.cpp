// No policy beats a bound: every scheduler, every repartitioner, every kind of cost.
#include <gtest/gtest.h>

#include <array>

#include "bounds/report.h"
#include "cases/case.h"
#include "cases/papers_day.h"
#include "cases/random_case.h"
#include "policies/registry.h"

namespace partita {
namespace {

// Figures of a run are sums of doubles.
constexpr double kRounding = 1e-9;

bounds::BoundReport report_of(const workload::Trace& trace, const sim::RunOptions& options,
                              int rounds) {
  const auto problem =
      bounds::make_problem(trace, {options.model, options.power, options.gpus, options.horizon});
  EXPECT_TRUE(problem.ok());
  bounds::Request request;
  request.et_a = options.et_a;
  request.rounds = rounds;
  request.use_mip = false;
  const bool whole = options.preemption.mode == decide::Preemption::Mode::kNone;
  request.runs = whole ? bounds::Runs::kWhole : bounds::Runs::kSplit;
  return bounds::find_bounds(*problem, request);
}

void expect_none_beaten(const bounds::BoundReport& report, const sim::RunResult& result,
                        const std::string& who) {
  const std::array<double, 3> reached{result.energy_j, result.mean_tardiness_s, result.et};
  for (const bounds::Bound& bound : report.bounds) {
    const double value = reached.at(static_cast<std::size_t>(bound.kind));
    EXPECT_LE(bound.value, value * (1 + kRounding))
        << who << ": " << bounds::name_of(bound.kind) << " " << bound.name;
  }
}

class EverySchedulerAndItsBounds : public testing::TestWithParam<std::string> {};

TEST_P(EverySchedulerAndItsBounds, OnRandomCases) {
  for (std::uint64_t seed = 90'000; seed < 90'015; ++seed) {
    const cases::Case each = cases::random_case({.seed = seed,
                                                 .scheduler = GetParam(),
                                                 .jobs_max = 40,
                                                 .gpus_max = 4,
                                                 .may_be_stuck = false});
    if (each.trace.jobs.empty()) continue;
    const Result<sim::RunResult> result = cases::run_engine(each);
    ASSERT_TRUE(result.ok()) << result.error().message;
    const bounds::BoundReport report = report_of(each.trace, cases::options_of(each), 10);
    expect_none_beaten(report, *result, GetParam() + ", case " + std::to_string(seed));
  }
}

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const policies::SchedulerRow& row : policies::schedulers()) names.push_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Bounds, EverySchedulerAndItsBounds, testing::ValuesIn(scheduler_names()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

// The same with nobody interrupted, and memory that jobs outgrow.
TEST_P(EverySchedulerAndItsBounds, WithoutPreemption) {
  int bounded = 0;
  for (std::uint64_t seed = 91'000; seed < 91'004; ++seed) {
    cases::Case each = cases::random_case({.seed = seed,
                                           .scheduler = GetParam(),
                                           .jobs_max = 40,
                                           .gpus_max = 2,
                                           .may_be_stuck = false});
    each.preemption = {decide::Preemption::Mode::kNone, {}};
    if (each.trace.jobs.empty()) continue;
    const Result<sim::RunResult> result = cases::run_engine(each);
    if (!result) continue;  // some need preemption to get every job through
    const bounds::BoundReport report = report_of(each.trace, cases::options_of(each), 5);
    expect_none_beaten(report, *result, GetParam() + ", case " + std::to_string(seed));
    for (const bounds::Bound& bound : report.bounds) {
      bounded += bound.name == bounds::kNonPreemptive ? 1 : 0;
    }
  }
  EXPECT_GE(bounded, 4);
}

// Three crowded hours: what looks ahead comes nearest to the bounds.
TEST(EveryRepartitionerAndItsBounds, OnThreeHoursOfThePapersDay) {
  const workload::Trace trace =
      cases::papers_day({.rate = 24, .deadline_low = 1, .deadline_high = 1.5, .hours = 3}, 11);
  sim::RunOptions options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = 4;
  options.horizon = Micros::seconds(3 * 3600);
  const bounds::BoundReport report = report_of(trace, options, 30);
  EXPECT_GT(report.best(bounds::Kind::kTardiness)->value, 0);
  for (const sim::RepartitionCost cost :
       {sim::RepartitionCost::kMeasured, sim::RepartitionCost::kPaper}) {
    options.repartition_cost = cost;
    for (const std::string rule : {"none", "static:2", "static:12", "static:1,2,6,10",
                                   "timetable:01:00=2,02:00=6", "lookahead", "ondemand"}) {
      const std::string name = rule == "ondemand" ? "edf+requested" : "mdd";
      const auto scheduler = policies::make_scheduler(name, 1);
      const auto forecaster = policies::make_scheduler(name, 1);
      const auto repartitioner = policies::make_repartitioner(rule, *options.model, options.gpus);
      ASSERT_TRUE(scheduler.ok() && repartitioner.ok()) << rule;
      sim::RunExtras extras;
      extras.forecast_scheduler = forecaster->get();
      const Result<sim::RunResult> result =
          sim::simulate(trace, options, **scheduler, **repartitioner, extras);
      ASSERT_TRUE(result.ok()) << rule << ": " << result.error().message;
      expect_none_beaten(report, *result, rule);
    }
  }
}

}  // namespace
}  // namespace partita
