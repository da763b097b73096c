// The papers' figures: whether the model, the generator and the schedulers together give what the
// papers and an independent re-simulation of them found, over many days.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cases/case.h"
#include "cases/papers_day.h"
#include "policies/layout_list.h"

namespace partita {
namespace {

#ifndef PARTITA_TRUTH_DAYS
#define PARTITA_TRUTH_DAYS 60  // more in the test that ctest labels "long"
#endif

constexpr std::uint64_t kDays = PARTITA_TRUTH_DAYS;
constexpr std::uint64_t kFirstSeed = 1'000;
constexpr std::uint32_t kGpus = 8;
constexpr double kNormal95 = 1.96;

struct Setting {
  const char* scheduler = "edf-ss";
  const char* layouts = "1";
  const char* power = "smart-mig";
  decide::Preemption preemption = {};
  double deadline_low = 1.0;
  double deadline_high = 1.5;
};

// Means over the days, with the standard errors of two of them.
struct Means {
  double energy_w_min = 0;
  double tardiness_min = 0;
  double tardiness_error = 0;
  double energy_error = 0;
  double late_share = 0;
  double jobs = 0;
};

cases::Case day_of(const Setting& setting, std::uint64_t seed) {
  cases::Case day;
  day.power = setting.power;
  day.scheduler = setting.scheduler;
  day.preemption = setting.preemption;
  day.horizon = Micros::seconds(86'400);
  day.layouts = *policies::parse_layout_list(cases::model_of(day), kGpus, setting.layouts);
  day.trace = cases::papers_day(
      {.rate = 20, .deadline_low = setting.deadline_low, .deadline_high = setting.deadline_high},
      seed);
  return day;
}

Means means_of(const Setting& setting) {
  Means means;
  double squares = 0;
  double energy_squares = 0;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kDays; ++seed) {
    const cases::Case day = day_of(setting, seed);
    sim::RunOptions options = cases::options_of(day);
    options.keep_jobs = options.keep_schedule = false;
    const Result<sim::RunResult> result = cases::run_engine(day, options);
    EXPECT_TRUE(result.ok()) << result.error().message;
    if (!result) return means;
    const double tardiness = result->mean_tardiness_s / 60;
    means.energy_w_min += result->energy_w_min() / static_cast<double>(kDays);
    means.tardiness_min += tardiness / static_cast<double>(kDays);
    means.late_share += result->late_share() / static_cast<double>(kDays);
    means.jobs += static_cast<double>(result->jobs) / static_cast<double>(kDays);
    squares += tardiness * tardiness / static_cast<double>(kDays);
    energy_squares += result->energy_w_min() * result->energy_w_min() / static_cast<double>(kDays);
  }
  const auto error = [](double mean_of_squares, double mean) {
    return std::sqrt(std::max(0.0, mean_of_squares - mean * mean) / static_cast<double>(kDays));
  };
  means.tardiness_error = error(squares, means.tardiness_min);
  means.energy_error = error(energy_squares, means.energy_w_min);
  // The figures that docs/concepts/papers.md quotes.
  fmt::print(
      "[ figures  ] {} on {}: {} days from seed {}: tardiness {:.3f} +- {:.3f} min, energy "
      "{:.4f} +- {:.4f} M W·min, late {:.1f} %\n",
      setting.scheduler, setting.layouts, kDays, kFirstSeed, means.tardiness_min,
      kNormal95 * means.tardiness_error, means.energy_w_min / 1e6,
      kNormal95 * means.energy_error / 1e6, 100 * means.late_share);
  return means;
}

TEST(Truth, ADayAtRateTwentyHasTheExpectedNumberOfJobs) {
  // 1,440 minutes at 0.14404 jobs a minute, times 20.
  EXPECT_NEAR(means_of({.scheduler = "cedf", .layouts = "2"}).jobs, 4'148, 4'148 * 0.01);
}

TEST(Truth, WithoutPartitionsTardinessIsAHundredMinutesAndEnergyThreeMillion) {
  const Means means = means_of({});
  // The days differ widely (the load is 1.04), so the band is three standard errors and a little.
  EXPECT_NEAR(means.tardiness_min, 96.8, 1 + 3 * means.tardiness_error);
  EXPECT_LT(means.tardiness_error, 6);
  EXPECT_NEAR(means.energy_w_min, 3.01e6, 0.02e6);
}

TEST(Truth, TheMixedStaticLayoutsOfSmartMigWithCategoricalEdf) {
  const Means means = means_of({.scheduler = "cedf", .layouts = "1,1,2,3,3,5,5,10"});
  EXPECT_NEAR(means.energy_w_min, 2.51e6, 0.02e6);
  EXPECT_GT(means.tardiness_min, 1.55);
  EXPECT_LT(means.tardiness_min, 1.70);
}

TEST(Truth, TheBestStaticLayoutsWithCategoricalEdf) {
  const Means means = means_of({.scheduler = "cedf", .layouts = "1,2,2,2,2,2,6,10"});
  EXPECT_NEAR(means.energy_w_min, 2.42e6, 0.02e6);
  EXPECT_NEAR(means.tardiness_min, 1.13, 0.07);
}

TEST(Truth, CategoriesAreWhatTamesTheDominoEffectOfPlainEdf) {
  const Means plain = means_of({.scheduler = "mp-edf", .layouts = "1,1,2,3,3,5,5,10"});
  const Means categories = means_of({.scheduler = "cedf", .layouts = "1,1,2,3,3,5,5,10"});
  EXPECT_GT(plain.tardiness_min, 4 * categories.tardiness_min);
}

Setting tech_report(const char* scheduler) {
  return {.scheduler = scheduler,
          .layouts = "t1,t1,t2,t2,t3,t3,t12,t12",
          .power = "tech-report",
          .preemption = {decide::Preemption::Mode::kNone, {}},
          .deadline_low = 2,
          .deadline_high = 4};
}

TEST(Truth, TheTechnicalReportsLargestFirst) {
  const Means means = means_of(tech_report("largest-first"));
  EXPECT_GT(means.late_share, 0.42);
  EXPECT_LT(means.late_share, 0.43);
  EXPECT_NEAR(means.energy_w_min, 2.58e6, 0.01e6);
}

TEST(Truth, ModifiedDueDateIsLateLessOftenThanLargestFirst) {
  EXPECT_NEAR(means_of(tech_report("mdd")).late_share, 0.345, 0.005);
}

}  // namespace
}  // namespace partita
