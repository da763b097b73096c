#include "bounds/slots/job_response.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bounds/solver.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

// The cheapest way to run the job by `end` when the part of it after `late_from` costs `extra` a
// second: a linear program over seconds of each mode in each interval.
double cost_by_solver(const BoundJob& job, const PriceGrid& grid, double end, double late_from,
                      double extra) {
  LinearModel model;
  const std::size_t work = model.add_row(kWorkAsked, kNoLimit);
  std::vector<double> cuts{job.release, end, late_from};
  for (const double edge : grid.edges) cuts.push_back(edge);
  std::ranges::sort(cuts);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] < job.release || cuts[i + 1] > end || cuts[i] == cuts[i + 1]) continue;
    const std::size_t space = model.add_row(-kNoLimit, (cuts[i + 1] - cuts[i]) * 1e-6);
    const double* prices = grid.at(grid.find(cuts[i]));
    for (std::size_t mode = 0; mode < grid.modes; ++mode) {
      if (job.time[mode] <= 0) continue;
      const double price = prices[mode] + (cuts[i] >= late_from ? extra : 0);
      const std::size_t column = model.add_column(price, 0, kNoLimit);
      model.set(space, column, 1);
      model.set(work, column, 1 / (job.time[mode] * 1e-6));
    }
  }
  const LpAnswer answer = solve_linear(model);
  return answer.optimal ? answer.value : kNoLimit;
}

// Over all places where the job may end.
double best_by_solver(const BoundJob& job, const PriceGrid& grid, double weight) {
  double best = cost_by_solver(job, grid, job.due, job.due, 0);
  std::vector<double> begins{job.due};
  for (const double edge : grid.edges) {
    if (edge > job.due) begins.push_back(edge);
  }
  for (const double begin : begins) {
    const std::size_t interval = grid.find(begin);
    const double end = interval == grid.tail() ? begin + 1e9 : grid.end(interval);
    const double late = weight * (begin - job.due) * 1e-6;
    best = std::min(best, late + cost_by_solver(job, grid, end, begin, weight));
  }
  return best;
}

TEST(JobResponse, CostsWhatALinearProgramSays) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = random_problem(seed, 2, 1);
    const PriceGrid grid = random_prices(seed, problem.modes.size());
    JobResponse response(grid, 1.0);
    for (const BoundJob& job : problem.jobs) {
      const double wanted = best_by_solver(job, grid, 1.0);
      EXPECT_NEAR(response.cost(job), wanted, 1e-6 * (1 + wanted)) << seed;
    }
  }
}

TEST(JobResponse, UsesWhatItPaysFor) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Problem problem = random_problem(seed, 3, 1);
    PriceGrid grid = random_prices(seed, problem.modes.size());
    JobResponse response(grid, 0.0);  // no due dates: all the cost is rent
    for (const BoundJob& job : problem.jobs) {
      const double cost = response.cost(job);
      std::vector<double> usage(grid.prices.size());
      response.add_usage(usage);
      double rent = 0;
      double work = 0;
      for (std::size_t i = 0; i < usage.size(); ++i) {
        EXPECT_GE(usage[i], -1e-9) << seed;
        rent += usage[i] * grid.prices[i];
        if (usage[i] > 0) work += usage[i] / (job.time[i % grid.modes] * 1e-6);
      }
      // What it does in the tail is not reported.
      EXPECT_LE(rent, cost + 1e-9) << seed;
      EXPECT_LE(work, 1 + 1e-9) << seed;
      if (work > kWorkAsked - 1e-9) {
        EXPECT_NEAR(rent, cost, 1e-9 * (1 + cost)) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace partita::bounds
