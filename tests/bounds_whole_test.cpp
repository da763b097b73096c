// Never wrong without preemption: on random small problems no bound exceeds the exact optimum of
// schedules that never interrupt a job.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "bounds/exact/window_optimum.h"
#include "bounds/prices/ascent.h"
#include "bounds/prices/price_check.h"
#include "bounds/report.h"
#include "bounds/test_support.h"
#include "oracle/exact_optimum.h"

#ifndef PARTITA_BOUNDS_PROBLEMS
#define PARTITA_BOUNDS_PROBLEMS 250
#endif

namespace partita::bounds {
namespace {

// The solver's tolerance, for sums of some hundred.
constexpr double kTolerance = 1e-6;

// Few rounds on a coarse grid: what prices prove must hold however they were found.
PriceGrid some_prices(const Problem& problem, const Weights& weights) {
  return search_prices(problem, weights,
                       {.intervals_max = 64, .rounds_by_mode = 80, .runs = Runs::kWhole})
      .grid;
}

double proven(Kind kind, const Problem& problem, double et_a, const PriceGrid& grid) {
  Bound bound{
      .kind = kind, .name = std::string(kNonPreemptive), .prices = grid, .tree = {}, .word = {}};
  const Result<double> value = check_bound(problem, et_a, bound);
  EXPECT_TRUE(value.ok());
  return value ? *value : 0;
}

double in_units_of(Kind kind, const Problem& problem, double et_a, double value) {
  const auto jobs = static_cast<double>(problem.jobs.size());
  return kind == Kind::kTardiness ? value / jobs : value / (60 * jobs * (1 + et_a));
}

// The optimum lets instances trade places, so that it is not above that of any schedule.
TEST(NonPreemptiveBounds, NoneExceedsTheExactOptimumOfWholeRuns) {
  std::array<double, 2> tightness{};
  int cases = 0;
  for (std::uint64_t seed = 1; seed <= PARTITA_BOUNDS_PROBLEMS; ++seed) {
    const Small small = draw_small(seed);
    const Result<Problem> problem = make_problem(small.trace, small.fleet);
    ASSERT_TRUE(problem.ok()) << seed << ": " << problem.error().message;
    // Ninety orders of every choice of modes: a second.
    if (problem->jobs.size() > 2 && seed % 25 != 0) continue;
    ++cases;
    for (const Kind kind : {Kind::kTardiness, Kind::kEt}) {
      const Weights weights = weights_of(kind, *problem, small.et_a);
      const double bound = proven(kind, *problem, small.et_a, some_prices(*problem, weights));
      const Result<double> value = exact_whole_optimum(*problem, weights);
      ASSERT_TRUE(value.ok()) << value.error().message;
      const double best = in_units_of(kind, *problem, small.et_a, *value);
      ASSERT_LE(bound, best + kTolerance * (1 + best)) << "seed " << seed << ", " << name_of(kind);
      tightness.at(kind == Kind::kEt ? 1 : 0) += best > 0 ? bound / best : 1;
    }
  }
  fmt::print("bound over optimum, mean: tardiness {:.3f} et {:.3f}\n", tightness[0] / cases,
             tightness[1] / cases);
  // Bounds of 0 would pass too; these do not fall far short.
  EXPECT_GT(tightness[0] / cases, 0.8);
  EXPECT_GT(tightness[1] / cases, 0.8);
}

TEST(NonPreemptiveBounds, DoNotExceedTheOptimumOfUpToSixJobs) {
  double bounds = 0;
  double optima = 0;
  for (std::uint64_t seed = 1; seed <= 4 * PARTITA_BOUNDS_PROBLEMS; ++seed) {
    const int jobs = 2 + static_cast<int>(seed % 5);
    const auto gpus = static_cast<std::uint32_t>(1 + seed / 5 % 2);
    const Problem problem = random_problem(seed, jobs, gpus);
    const PriceGrid prices = some_prices(problem, {1, 0});
    const double bound = proven(Kind::kTardiness, problem, 0, prices) * jobs;
    const auto best = window_optimum(problem, *a100_fleet(gpus).model, prices, {});
    ASSERT_TRUE(best.ok() && best->proven) << seed;
    ASSERT_LE(bound, best->total_s * (1 + kTolerance) + kTolerance) << "seed " << seed;
    bounds += bound;
    optima += best->total_s;
  }
  fmt::print("bound over optimum, of sums: tardiness {:.3f}\n", bounds / optima);
  // Bounds of 0 would pass too; on so coarse a grid these have 0.6.
  EXPECT_GT(bounds / optima, 0.5);
}

// What no schedule can beat when jobs may be cut is not above what none can beat when they may not.
TEST(ExactWholeOptimum, IsNotBelowThatOfJobsThatMayBeSplit) {
  int above = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Small small = draw_small(seed);
    const Problem problem = *make_problem(small.trace, small.fleet);
    if (problem.jobs.size() > 2) continue;
    const Weights weights = weights_of(Kind::kEt, problem, small.et_a);
    const Result<double> split = exact_optimum(problem, weights);
    const Result<double> whole = exact_whole_optimum(problem, weights);
    ASSERT_TRUE(split.ok() && whole.ok());
    EXPECT_GE(*whole, *split - kTolerance * (1 + *split)) << seed;
    above += *whole > 1.001 * *split ? 1 : 0;
  }
  EXPECT_GT(above, 5);
}

TEST(WindowOptimum, IsTheExactOptimumOfWholeRunsOfTwoJobs) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Small small = draw_small(seed);
    const Problem problem = *make_problem(small.trace, small.fleet);
    if (problem.jobs.size() > 2) continue;
    const Result<double> exact = exact_whole_optimum(problem, {1, 0});
    const PriceGrid free{problem.modes.size(), {0}, std::vector<double>(problem.modes.size(), 0)};
    const auto window = window_optimum(problem, *small.fleet.model, free, {});
    ASSERT_TRUE(exact.ok() && window.ok() && window->proven);
    EXPECT_NEAR(window->total_s, *exact, kTolerance * (1 + *exact)) << seed;
  }
}

// Prices decide how soon the search is through, not what it finds.
TEST(WindowOptimum, IsTheSameWithAnyPrices) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const Problem problem = random_problem(seed, 5, 1);
    const mig::GpuModel& model = *a100_fleet(1).model;
    const PriceGrid free{problem.modes.size(), {0}, std::vector<double>(problem.modes.size(), 0)};
    PriceGrid random = random_prices(seed, problem.modes.size());
    std::fill(random.prices.end() - static_cast<std::ptrdiff_t>(random.modes), random.prices.end(),
              0);
    const auto plain = window_optimum(problem, model, free, {});
    ASSERT_TRUE(plain.ok() && plain->proven);
    for (const PriceGrid& prices : {some_prices(problem, {1, 0}), random}) {
      const auto other = window_optimum(problem, model, prices, {});
      ASSERT_TRUE(other.ok() && other->proven);
      EXPECT_NEAR(other->total_s, plain->total_s, 1e-6) << seed;
    }
  }
}

TEST(WindowOptimum, IsAScheduleThatGpusCanHold) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    const Problem problem = random_problem(seed, 6, 1 + seed % 2);
    const mig::GpuModel& model = *a100_fleet(1).model;
    const auto best = window_optimum(problem, model, some_prices(problem, {1, 0}), {});
    ASSERT_TRUE(best.ok());
    ASSERT_EQ(best->runs.size(), problem.jobs.size());
    double tardiness = 0;
    for (const PlacedRun& run : best->runs) {
      const BoundJob& job = problem.jobs[run.job];
      EXPECT_GE(run.begin, job.release);
      EXPECT_GE(run.end - run.begin, job.fastest());
      tardiness += std::max(0.0, run.end - job.due) * 1e-6;
      mig::Layout busy;
      for (const PlacedRun& other : best->runs) {
        if (other.gpu != run.gpu || other.begin > run.begin || other.end <= run.begin) continue;
        ASSERT_TRUE(mig::fits(model, busy, other.placement)) << seed;
        busy.add(other.placement);
      }
    }
    EXPECT_NEAR(tardiness, best->total_s, 1e-6);
  }
}

TEST(WindowOptimum, SaysThatItWasCutShort) {
  const Problem problem = random_problem(3, 9, 1);
  const auto best = window_optimum(problem, *a100_fleet(1).model, some_prices(problem, {1, 0}),
                                   {.nodes_max = 12});
  ASSERT_TRUE(best.ok());
  EXPECT_FALSE(best->proven);
  const auto refused = window_optimum(random_problem(3, 17, 1), *a100_fleet(1).model, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "the optimum of a window takes up to 16 jobs, there are 17");
}

}  // namespace
}  // namespace partita::bounds
