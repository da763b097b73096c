#include "bounds/whole_run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bounds/prices/ascent.h"
#include "bounds/prices/price_check.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

// From the definition: rent by rent, and lateness.
double cost_of(const PriceGrid& grid, const BoundJob& job, std::size_t mode, double begin) {
  const double end = begin + held_for(job, mode);
  double cost = std::max(0.0, end - job.due) * 1e-6;
  for (std::size_t i = grid.find(begin); begin < end; ++i) {
    const double until = std::min(grid.end(i), end);
    cost += grid.at(i)[mode] * (until - begin) * 1e-6;
    begin = until;
  }
  return cost;
}

TEST(WholeRun, CostsNoMoreThanAnyBeginAndAsMuchAsItsOwn) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = random_problem(seed, 4, 1);
    const PriceGrid grid = sound_prices(seed, problem);
    WholeRun whole(grid, 1);
    Rng rng(seed, 3);
    for (const BoundJob& job : problem.jobs) {
      const double cost = whole.cost(job);
      const bounds::Run run = whole.run();
      EXPECT_GE(run.begin, job.release);
      EXPECT_EQ(run.end, run.begin + held_for(job, run.mode));
      EXPECT_NEAR(cost, cost_of(grid, job, run.mode, run.begin), 1e-9 * (1 + cost)) << seed;
      for (int i = 0; i < 500; ++i) {
        const double begin = job.release + std::floor(rng.uniform(0, 300e6));
        const std::size_t mode = rng.below(problem.modes.size());
        if (job.time[mode] <= 0) continue;
        ASSERT_LE(cost, cost_of(grid, job, mode, begin) + 1e-9 * (1 + cost)) << seed;
      }
    }
  }
}

TEST(WholeRun, UsesTheSecondsItHolds) {
  const Problem problem = random_problem(2, 3, 1);
  const PriceGrid grid = sound_prices(2, problem);
  WholeRun whole(grid, 1);
  for (const BoundJob& job : problem.jobs) {
    whole.cost(job);
    std::vector<double> usage(grid.prices.size());
    whole.add_usage(usage);
    double sum = 0;
    for (std::size_t i = 0; i < usage.size(); ++i) {
      sum += usage[i];
      EXPECT_TRUE(usage[i] == 0 || i % grid.modes == whole.run().mode);
    }
    EXPECT_NEAR(sum, held_for(job, whole.run().mode) * 1e-6, 1e-9);
  }
}

TEST(WholeRun, HoldsItsInstanceForItsTimeLessABillionth) {
  BoundJob job;
  job.time[0] = 5e9;
  job.time[1] = 1;
  EXPECT_EQ(held_for(job, 0), 5e9 - 5);
  EXPECT_EQ(held_for(job, 1), 0);
}

// Whoever may not be split pays no less at the same prices: each bound of jobs in pieces is one of
// whole jobs too.
TEST(WholeRuns, ProveNoLessThanPiecesAtTheSamePrices) {
  int more = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Problem problem = random_problem(seed, 6, 2);
    const PriceGrid grid = sound_prices(seed, problem);
    const double split = *proven_value(problem, kBothGoals, grid, Runs::kSplit);
    const double whole = *proven_value(problem, kBothGoals, grid, Runs::kWhole);
    // A whole run is held for a microsecond less than its time.
    EXPECT_GE(whole, split - 1e-5 * static_cast<double>(problem.jobs.size())) << seed;
    more += whole > split + 0.1 ? 1 : 0;
  }
  EXPECT_GT(more, 100);
}

TEST(WholeRuns, AreProvenToCostWhatTheyCostAndNoMore) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Problem problem = random_problem(seed, 6, 2);
    const PriceGrid grid = sound_prices(seed, problem);
    const Result<double> proven = proven_value(problem, kBothGoals, grid, Runs::kWhole);
    ASSERT_TRUE(proven.ok()) << proven.error().message;
    const double value = evaluate_prices(problem, kBothGoals, grid, Runs::kWhole).value;
    EXPECT_LE(*proven, value + 1e-9 * std::fabs(value)) << seed;
    EXPECT_NEAR(*proven, value, 1e-8 * (1 + std::fabs(value))) << seed;
  }
}

TEST(WholeRuns, AreNotCheckedBeyondWholeNumbers) {
  Problem problem = random_problem(1, 3, 1);
  const PriceGrid grid = sound_prices(1, problem);
  problem.jobs[1].release = 0x1p52;
  const Result<double> proven = proven_value(problem, kBothGoals, grid, Runs::kWhole);
  ASSERT_FALSE(proven.ok());
  EXPECT_EQ(proven.error().message, "the instants of a job are beyond 2^51 microseconds");
  set_on_until(problem);
  const Found found = search_prices(problem, kBothGoals, {.runs = Runs::kWhole});
  EXPECT_EQ(found.grid.intervals(), 1U);
}

TEST(WholeRuns, ProveLessWithAJobDroppedADueDateLaterOrLessPower) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Problem problem = random_problem(seed, 8, 1);
    const Effort effort{.intervals_max = 64, .rounds_by_mode = 20, .runs = Runs::kWhole};
    const PriceGrid grid = search_prices(problem, kBothGoals, effort).grid;
    const auto value = [&](const Problem& each) {
      return evaluate_prices(each, kBothGoals, grid, Runs::kWhole).value;
    };
    const double most = value(problem) + 1e-9 * (1 + value(problem));
    Problem fewer = problem;
    fewer.jobs.erase(fewer.jobs.begin() + static_cast<std::ptrdiff_t>(seed % 8));
    EXPECT_LE(value(fewer), most) << seed;
    Problem later = problem;
    later.jobs[seed % 8].due += 10e6;
    EXPECT_LE(value(later), most) << seed;
    Problem cooler = problem;
    for (Load& load : cooler.loads) {
      load.watts *= 0.9;
      load.watts_after *= 0.9;
    }
    EXPECT_LE(value(cooler), most) << seed;
  }
}

}  // namespace
}  // namespace partita::bounds
