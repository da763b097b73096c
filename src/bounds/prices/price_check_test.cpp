#include "bounds/prices/price_check.h"

#include <gtest/gtest.h>

#include "bounds/prices/ascent.h"
#include "bounds/rounding.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

TEST(PriceCheck, ProvesTheValueAndNoMore) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Problem problem = random_problem(seed, 6, 2);
    const PriceGrid grid = sound_prices(seed, problem);
    const Result<double> proven = proven_value(problem, kBothGoals, grid);
    ASSERT_TRUE(proven.ok()) << proven.error().message;
    const double value = evaluate_prices(problem, kBothGoals, grid).value;
    EXPECT_LE(*proven, value + 1e-9 * std::fabs(value)) << seed;
    EXPECT_NEAR(*proven, value, 1e-8 * (1 + std::fabs(value))) << seed;
  }
}

TEST(PriceCheck, RefusesWhatProvesNothing) {
  const Problem problem = random_problem(1, 3, 1);
  const PriceGrid good = sound_prices(1, problem);
  ASSERT_TRUE(proven_value(problem, kBothGoals, good).ok());
  PriceGrid negative = good;
  negative.prices[3] = -1e-9;
  EXPECT_FALSE(proven_value(problem, kBothGoals, negative).ok());
  PriceGrid dear_tail = good;
  dear_tail.prices.back() += 1;
  EXPECT_FALSE(proven_value(problem, kBothGoals, dear_tail).ok());
  PriceGrid out_of_order = good;
  std::swap(out_of_order.edges[1], out_of_order.edges[2]);
  EXPECT_FALSE(proven_value(problem, kBothGoals, out_of_order).ok());
  PriceGrid late_begin = good;
  late_begin.edges[0] = 1;
  EXPECT_FALSE(proven_value(problem, kBothGoals, late_begin).ok());
  PriceGrid no_number = good;
  no_number.prices[0] = std::nan("");
  EXPECT_FALSE(proven_value(problem, kBothGoals, no_number).ok());
}

TEST(PriceCheck, RoundsToTheSideItSays) {
  Rng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    const double a = rng.normal() * std::pow(10, rng.uniform(-8, 8));
    const double b = rng.normal() * std::pow(10, rng.uniform(-8, 8));
    const long double exact_product = static_cast<long double>(a) * b;
    const long double exact_sum = static_cast<long double>(a) + b;
    const long double exact_quotient = static_cast<long double>(a) / b;
    ASSERT_LE(times_below(a, b), exact_product);
    ASSERT_GE(times_above(a, b), exact_product);
    ASSERT_LE(add_below(a, b), exact_sum);
    ASSERT_GE(add_above(a, b), exact_sum);
    ASSERT_LE(over_below(a, b), exact_quotient);
    ASSERT_GE(over_above(a, b), exact_quotient);
  }
}

TEST(Prices, ProveLessWithAJobDroppedADueDateLaterOrLessPower) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = random_problem(seed, 8, 1);
    const PriceGrid grid =
        search_prices(problem, kBothGoals, {.rounds = 10, .rounds_by_mode = 10}).grid;
    const double value = evaluate_prices(problem, kBothGoals, grid).value;
    const double slack = 1e-9 * (1 + value);
    Problem fewer = problem;
    fewer.jobs.erase(fewer.jobs.begin() + static_cast<std::ptrdiff_t>(seed % 8));
    EXPECT_LE(evaluate_prices(fewer, kBothGoals, grid).value, value + slack) << seed;
    Problem later = problem;
    later.jobs[seed % 8].due += 10e6;
    EXPECT_LE(evaluate_prices(later, kBothGoals, grid).value, value + slack) << seed;
    Problem cooler = problem;
    for (Load& load : cooler.loads) {
      load.watts *= 0.9;
      load.watts_after *= 0.9;
    }
    EXPECT_LE(evaluate_prices(cooler, kBothGoals, grid).value, value + slack) << seed;
  }
}

}  // namespace
}  // namespace partita::bounds
