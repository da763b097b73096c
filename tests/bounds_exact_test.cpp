// Never wrong: on random small problems no bound exceeds the exact optimum.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "bounds/report.h"
#include "bounds/slots/slot_program.h"
#include "bounds/slots/slot_search.h"
#include "bounds/slots/slot_tree.h"
#include "bounds/test_support.h"
#include "oracle/exact_optimum.h"

#ifndef PARTITA_BOUNDS_PROBLEMS
#define PARTITA_BOUNDS_PROBLEMS 400
#endif

namespace partita::bounds {
namespace {

// The solver's tolerance, for sums of some hundred.
constexpr double kTolerance = 1e-6;

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// In a few slots, with cases enough to divide some.
double tree_tardiness_s(const Problem& problem) {
  constexpr std::size_t kSlots = 24;
  const double slot = slots_end(problem) / kSlots;
  const SlotProgram program = slot_program(problem, static_cast<std::int64_t>(slot) + 1, kSlots);
  const TreeFound found = search_tree(program, {.nodes_max = 9, .programs_max = 40});
  const Result<double> proven = proven_tardiness_s(problem, found.tree);
  EXPECT_TRUE(proven.ok());
  return proven ? *proven : 0;
}

double optimum(Kind kind, const Problem& problem, double et_a) {
  const Weights weights = weights_of(kind, problem, et_a);
  const Result<double> value = exact_optimum(problem, weights);
  EXPECT_TRUE(value.ok());
  const auto jobs = static_cast<double>(problem.jobs.size());
  if (kind == Kind::kEnergy) return *value;
  return kind == Kind::kTardiness ? *value / jobs : *value / (60 * jobs * (1 + et_a));
}

TEST(BoundsAgainstTheExactOptimum, NoneExceedsItOnRandomSmallProblems) {
  std::array<double, 3> tightness{};
  for (std::uint64_t seed = 1; seed <= PARTITA_BOUNDS_PROBLEMS; ++seed) {
    const Small small = draw_small(seed);
    const Result<Problem> problem = make_problem(small.trace, small.fleet);
    ASSERT_TRUE(problem.ok()) << seed << ": " << problem.error().message;
    Request request;
    request.et_a = small.et_a;
    request.rounds = 30;
    request.use_mip = seed % 20 == 0;  // it takes most of the time
    request.seconds_max = 1;
    if (request.use_mip) request.clock = seconds_now;
    const BoundReport report = find_bounds(*problem, request);
    std::array<double, 3> optima{};
    for (const Kind kind : request.kinds) {
      optima.at(static_cast<std::size_t>(kind)) = optimum(kind, *problem, small.et_a);
    }
    for (const Bound& bound : report.bounds) {
      const double best = optima.at(static_cast<std::size_t>(bound.kind));
      ASSERT_LE(bound.value, best + kTolerance * (1 + best))
          << "seed " << seed << ", " << name_of(bound.kind) << " " << bound.name;
    }
    const double jobs = static_cast<double>(problem->jobs.size());
    const double late = optima.at(static_cast<std::size_t>(Kind::kTardiness));
    ASSERT_LE(tree_tardiness_s(*problem) / jobs, late + kTolerance * (1 + late)) << "seed " << seed;
    for (std::size_t kind = 0; kind < 3; ++kind) {
      const double bound = report.best(static_cast<Kind>(kind))->value;
      tightness.at(kind) += optima.at(kind) > 0 ? bound / optima.at(kind) : 1;
    }
  }
  // Bounds of 0 would pass too; these do not fall far short.
  RecordProperty("energy", std::to_string(tightness[0] / PARTITA_BOUNDS_PROBLEMS));
  RecordProperty("tardiness", std::to_string(tightness[1] / PARTITA_BOUNDS_PROBLEMS));
  RecordProperty("et", std::to_string(tightness[2] / PARTITA_BOUNDS_PROBLEMS));
  fmt::print("bound over optimum, mean: energy {:.3f} tardiness {:.3f} et {:.3f}\n",
             tightness[0] / PARTITA_BOUNDS_PROBLEMS, tightness[1] / PARTITA_BOUNDS_PROBLEMS,
             tightness[2] / PARTITA_BOUNDS_PROBLEMS);
  EXPECT_GT(tightness[0] / PARTITA_BOUNDS_PROBLEMS, 0.7);
  EXPECT_GT(tightness[1] / PARTITA_BOUNDS_PROBLEMS, 0.7);
  EXPECT_GT(tightness[2] / PARTITA_BOUNDS_PROBLEMS, 0.7);
}

}  // namespace
}  // namespace partita::bounds
