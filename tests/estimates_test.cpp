// Wrong run times: the run stays true to what jobs really need, and no policy sees the truth.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cases/case.h"
#include "cases/papers_day.h"
#include "cases/random_case.h"
#include "checker/schedule_checker.h"
#include "decide/survival.h"
#include "policies/registry.h"
#include "sim/engine.h"
#include "sim/estimates.h"

namespace partita {
namespace {

constexpr std::uint64_t kCases = 60;

class WrongEstimates : public testing::TestWithParam<const char*> {};

// The referee reckons with the jobs' true times.
TEST_P(WrongEstimates, LeaveTheRunTrueToTheModel) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const cases::Case each = cases::random_case({.seed = 90'000 + seed,
                                                 .scheduler = GetParam(),
                                                 .jobs_max = 60,
                                                 .gpus_max = 4,
                                                 .may_be_stuck = false});
    sim::RunOptions options = cases::options_of(each);
    options.estimate_error = 1;
    options.estimate_seed = seed;
    const auto result = cases::run_engine(each, options);
    ASSERT_TRUE(result.ok()) << result.error().message;
    const auto found = checker::violations(each.trace, options, *result,
                                           {.work_conserving = each.switches.empty()});
    ASSERT_TRUE(found.empty()) << GetParam() << ", case " << seed << ":\n  "
                               << fmt::format("{}", fmt::join(found, "\n  ")) << "\n"
                               << cases::to_text(each);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedulers, WrongEstimates,
                         testing::Values("cedf", "edf-ss", "mdd", "atc", "llf", "sjf", "met", "eft",
                                         "fifo"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

sim::RunOptions day_options(double error) {
  sim::RunOptions options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = 3;
  options.estimate_error = error;
  return options;
}

double tardiness_of(const workload::Trace& day, double error) {
  const sim::RunOptions options = day_options(error);
  const auto scheduler = policies::make_scheduler("cedf", 1);
  const auto repartitioner = policies::make_repartitioner("static:2", *options.model, 3);
  return sim::simulate(day, options, **scheduler, **repartitioner)->mean_tardiness_s;
}

TEST(Estimates, HardlyWrongHardlyMatterAndVeryWrongCost) {
  const workload::Trace day = cases::papers_day({.rate = 6, .hours = 8}, 3);
  const double exact = tardiness_of(day, 0);
  EXPECT_NEAR(tardiness_of(day, 1e-6), exact, 0.02 * exact);
  EXPECT_GT(tardiness_of(day, 1), 1.02 * exact);
}

// Asks at its first turn what will happen if nothing changes.
class Asking : public decide::Repartitioner {
 public:
  std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
    const auto whole = mig::parse_layout(*view.cluster.model, "7g.40gb:0");
    return {*whole};
  }
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return 1; }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>&) override {
    if (asked) return;
    asked = true;
    told_s = view.jobs[cluster::JobHandle{0}].time[4] * 1e-6;
    const Micros until = Micros::seconds(1'000'000);
    forecast_s =
        view.forecaster->forecast({.requests = {}, .arrivals = {}, .until = until}).tardiness_s;
  }

  bool asked = false;
  double told_s = 0;
  double forecast_s = 0;
};

TEST(Estimates, AForecastTakesThemForTheTruth) {
  workload::Trace trace;
  trace.class_names = {"a"};
  workload::Job job;
  job.time.fill(Micros::seconds(1000));
  trace.add(job, "1");
  sim::RunOptions options = day_options(1);
  options.gpus = 1;
  options.estimate_seed = 4;
  const auto scheduler = policies::make_scheduler("edf-ss", 1);
  const auto ahead = policies::make_scheduler("edf-ss", 1);
  sim::RunExtras extras;
  extras.forecast_scheduler = ahead->get();
  Asking asking;
  const auto result = sim::simulate(trace, options, **scheduler, asking, extras);
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(asking.asked);
  EXPECT_NEAR(asking.told_s, 1000 * sim::Estimates(1, 4).factor_of(JobId{0}), 1e-3);
  EXPECT_GT(std::abs(asking.told_s - 1000), 50);
  EXPECT_NEAR(asking.forecast_s, asking.told_s, 1e-3);
  EXPECT_NEAR(result->mean_tardiness_s, 1000, 1e-6);
}

// Asks after the last job when it has come, and again when it has run for a while.
class AskingTwice : public Asking {
 public:
  explicit AskingTwice(Micros from) : from_(from) {}

  std::optional<Micros> next_time(Micros now) const override {
    const Micros again = from_ + Micros::seconds(700);
    return now < again ? std::optional(again) : std::nullopt;
  }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>&) override {
    if (view.now < from_ || view.jobs.size() == 0) return;
    const Micros until = view.now + Micros::seconds(1'000'000);
    forecasts_s.push_back(
        view.forecaster->forecast({.requests = {}, .arrivals = {}, .until = until}).tardiness_s);
  }

  std::vector<double> forecasts_s;

 private:
  Micros from_;
};

// Of the last job as much is expected to be left as was of those before it at its age.
TEST(Estimates, AForecastLearnsFromTheJobsThatEnded) {
  constexpr std::uint32_t kJobs = 100;
  constexpr std::int64_t kApart = 10'000;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const sim::Estimates estimates(1, seed);
    workload::Trace trace;
    trace.class_names = {"a"};
    decide::Survival survival;
    for (std::uint32_t i = 0; i < kJobs; ++i) {
      workload::Job job;
      job.arrival = job.deadline = Micros::seconds(kApart * i);
      job.time.fill(Micros::seconds(1000));
      trace.add(job, std::to_string(i));
      const double told = 1000 * estimates.factor_of(JobId{i});
      if (i + 1 < kJobs) survival.ended(1000 / told, told);
    }
    sim::RunOptions options = day_options(1);
    options.gpus = 1;
    options.estimate_seed = seed;
    const auto scheduler = policies::make_scheduler("edf-ss", 1);
    const auto ahead = policies::make_scheduler("edf-ss", 1);
    sim::RunExtras extras;
    extras.forecast_scheduler = ahead->get();
    AskingTwice asking(trace.jobs.back().arrival);
    ASSERT_TRUE(sim::simulate(trace, options, **scheduler, asking, extras).ok());
    ASSERT_GE(asking.forecasts_s.size(), 2U);  // perhaps once more when its estimate runs out
    const double told_s = 1000 * estimates.factor_of(JobId{kJobs - 1});
    EXPECT_NEAR(asking.forecasts_s[0], told_s * survival.expected_left(0, 1), 1e-3);
    const double age = 700 / told_s;
    double believed = 1;
    while (believed <= age) believed += believed;
    const double left_s = told_s * survival.expected_left(age, believed - age);
    EXPECT_NEAR(asking.forecasts_s[1], 700 + left_s, 1e-3);
  }
}

}  // namespace
}  // namespace partita
