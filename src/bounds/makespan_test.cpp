#include "bounds/makespan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bounds/solver.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

// The same optimum as a linear program: seconds of each job in each gap between releases, the last
// gap as long as it takes.
double makespan_by_solver(const Problem& problem) {
  LinearModel model;
  const std::size_t rest = model.add_column(1, 0, kNoLimit);
  std::vector<std::size_t> work;
  for (const BoundJob& job : problem.jobs) {
    const double length = job.least_work(problem.modes) * kWorkAsked / problem.compute_slices;
    work.push_back(model.add_row(length * 1e-6, kNoLimit));
  }
  const std::size_t jobs = problem.jobs.size();
  for (std::size_t gap = 0; gap < jobs; ++gap) {
    const bool last = gap + 1 == jobs;
    const double begin = problem.jobs[gap].release;
    const double length = last ? 0 : (problem.jobs[gap + 1].release - begin) * 1e-6;
    const std::size_t all = model.add_row(-kNoLimit, length * problem.gpus);
    if (last) model.set(all, rest, -static_cast<double>(problem.gpus));
    for (std::size_t job = 0; job <= gap; ++job) {
      const std::size_t column = model.add_column(0, 0, kNoLimit);
      const std::size_t own = model.add_row(-kNoLimit, length);
      if (last) model.set(own, rest, -1);
      model.set(own, column, 1);
      model.set(all, column, 1);
      model.set(work[job], column, 1);
    }
  }
  const LpAnswer answer = solve_linear(model);
  EXPECT_TRUE(answer.optimal);
  return problem.jobs.back().release + answer.value * 1e6;
}

TEST(Makespan, IsTheOptimumOfALinearProgram) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Problem problem = random_problem(seed, 1 + static_cast<int>(seed % 9), 1 + seed % 4);
    double alone = 0;
    for (const BoundJob& job : problem.jobs) {
      alone = std::max(alone, job.release + job.fastest());
    }
    const double wanted = std::max(makespan_by_solver(problem), alone);
    EXPECT_NEAR(least_makespan(problem), wanted, 1e-6 * wanted) << seed;
  }
}

TEST(Makespan, IsNotBelowThePapersTwoTerms) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Problem problem = random_problem(seed, 30, 3);
    const double makespan = least_makespan(problem);
    double work = 0;
    for (std::size_t i = problem.jobs.size(); i-- > 0;) {
      const double length = problem.jobs[i].least_work(problem.modes) / problem.compute_slices;
      work += length;
      EXPECT_GE(makespan, (problem.jobs[i].release + work / problem.gpus) * (1 - 1e-8));
      EXPECT_GE(makespan, (problem.jobs[i].release + length) * (1 - 1e-8));
    }
  }
}

}  // namespace
}  // namespace partita::bounds
