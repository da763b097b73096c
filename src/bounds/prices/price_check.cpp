#include "bounds/prices/price_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bounds/rounding.h"
#include "bounds/whole_run.h"

namespace partita::bounds {
namespace {

// At least what a GPU earns a second with the load that earns most.
double earned_above(const Problem& problem, double energy_weight, const PriceGrid& grid,
                    std::size_t interval) {
  const double* prices = grid.at(interval);
  const bool after = is_after(problem, grid.begin(interval));
  double most = 0;
  for (const Load& load : problem.loads) {
    const double watts = after ? load.watts_after : load.watts;
    double gain = above(-below(energy_weight * below(watts)));
    for (std::size_t mode = 0; mode < problem.modes.size(); ++mode) {
      if (load.count[mode] == 0) continue;
      gain = add_above(gain, times_above(prices[mode], load.count[mode]));
    }
    most = std::max(most, gain);
  }
  return most;
}

Status check_grid(const Problem& problem, const Weights& weights, const PriceGrid& grid) {
  if (grid.modes != problem.modes.size()) {
    return Error{
        fmt::format("prices are for {} modes, the GPU has {}", grid.modes, problem.modes.size())};
  }
  if (grid.edges.empty() || grid.edges.front() != 0 ||
      grid.prices.size() != grid.edges.size() * grid.modes) {
    return Error{"the edges of the prices must begin at 0, with one price a mode for each"};
  }
  for (std::size_t i = 1; i < grid.edges.size(); ++i) {
    if (!(grid.edges[i] > grid.edges[i - 1]) || !std::isfinite(grid.edges[i])) {
      return Error{fmt::format("edge {} of the prices is not after edge {}", i, i - 1)};
    }
  }
  for (const double price : grid.prices) {
    if (!(price >= 0) || !std::isfinite(price)) return Error{"a price is negative or no number"};
  }
  if (earned_above(problem, weights.energy, grid, grid.tail()) > 0) {
    return Error{"at the prices of the last interval, which has no end, a GPU would earn"};
  }
  return {};
}

// Checks one job: for each place where it may end, a multiplier of its work gives a number that its
// cost there is not below.
class JobCheck {
 public:
  JobCheck(const PriceGrid& grid, double late_weight);

  double cost_below(const BoundJob& job, const std::vector<JobResponse::Ending>& endings,
                    double claimed);

 private:
  double price_below(const double* prices, std::size_t mode, double extra) const {
    return extra > 0 ? add_below(prices[mode], extra) : prices[mode];
  }
  // At least the most that a second of this interval is worth to the job beyond its price.
  double surplus_above(const BoundJob& job, std::size_t interval, double work_price,
                       double extra) const;
  double stretch_above(const BoundJob& job, const Stretch& stretch, double work_price) const;
  double ending_below(const BoundJob& job, const JobResponse::Ending& ending) const;
  double affordable_for_ever(const BoundJob& job, const Stretch& stretch, double wanted) const;
  // No way to run the job pays less for instances, whenever it ends.
  double rent_below(const BoundJob& job) const;

  const PriceGrid& grid_;
  double late_weight_;
  std::vector<double> least_prices_;  // by mode, over all time
};

JobCheck::JobCheck(const PriceGrid& grid, double late_weight)
    : grid_(grid), late_weight_(late_weight), least_prices_(grid.at(0), grid.at(1)) {
  for (std::size_t i = 0; i < grid.prices.size(); ++i) {
    double& least = least_prices_[i % grid.modes];
    least = std::min(least, grid.prices[i]);
  }
}

double JobCheck::rent_below(const BoundJob& job) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t mode = 0; mode < grid_.modes; ++mode) {
    if (job.time[mode] <= 0) continue;
    const double seconds = over_below(job.time[mode], kMicrosPerSecond);
    least = std::min(least, times_below(times_below(least_prices_[mode], seconds), kWorkAsked));
  }
  return least;
}

double JobCheck::surplus_above(const BoundJob& job, std::size_t interval, double work_price,
                               double extra) const {
  double most = 0;
  const double* prices = grid_.at(interval);
  for (std::size_t mode = 0; mode < grid_.modes; ++mode) {
    if (job.time[mode] <= 0) continue;
    const double worth = over_above(times_above(work_price, kMicrosPerSecond), job.time[mode]);
    most = std::max(most, add_above(worth, -price_below(prices, mode, extra)));
  }
  return most;
}

double JobCheck::stretch_above(const BoundJob& job, const Stretch& stretch,
                               double work_price) const {
  const double extra = stretch.late ? late_weight_ : 0;
  const double surplus = surplus_above(job, stretch.interval, work_price, extra);
  if (surplus <= 0) return 0;
  const double seconds = over_above(stretch.end - stretch.begin, kMicrosPerSecond);
  return times_above(seconds, surplus);
}

// The largest multiplier up to `wanted` at which a stretch without end gives no surplus.
double JobCheck::affordable_for_ever(const BoundJob& job, const Stretch& stretch,
                                     double wanted) const {
  const double* prices = grid_.at(stretch.interval);
  const double extra = stretch.late ? late_weight_ : 0;
  for (std::size_t mode = 0; mode < grid_.modes; ++mode) {
    if (job.time[mode] <= 0) continue;
    const double seconds = over_below(job.time[mode], kMicrosPerSecond);
    wanted = std::min(wanted, times_below(price_below(prices, mode, extra), seconds));
  }
  return std::max(0.0, wanted);
}

double JobCheck::ending_below(const BoundJob& job, const JobResponse::Ending& ending) const {
  const double due = ending.last.late ? ending.last.begin : ending.last.end;
  const bool endless = std::isinf(ending.last.end);
  double work_price = ending.work_price;
  if (endless) {
    Stretch tail = ending.last;
    tail.interval = grid_.tail();
    work_price = affordable_for_ever(job, tail, work_price);
  }
  double cost = times_below(work_price, kWorkAsked);
  // What came before the last stretch is paid at the plain prices.
  double begin = job.release;
  for (std::size_t i = grid_.find(begin); begin < due; ++i) {
    const double end = std::min(grid_.end(i), due);
    if (std::isinf(end)) break;
    cost = add_below(cost, -stretch_above(job, {i, begin, end, false}, work_price));
    begin = end;
  }
  if (!ending.last.late) return cost;
  if (!endless) cost = add_below(cost, -stretch_above(job, ending.last, work_price));
  const double late_seconds = over_below(ending.last.begin - job.due, kMicrosPerSecond);
  return add_below(cost, std::max(0.0, times_below(late_weight_, late_seconds)));
}

// The endings go on to where being late and the least rent cost what is claimed, or to the tail.
double JobCheck::cost_below(const BoundJob& job, const std::vector<JobResponse::Ending>& endings,
                            double claimed) {
  const double shortest = times_below(job.fastest(), kWorkAsked);
  double least = claimed;
  for (const JobResponse::Ending& ending : endings) {
    if (ending.last.end - job.release < shortest) continue;  // it cannot be done by then
    least = std::min(least, ending_below(job, ending));
  }
  const Stretch& last = endings.back().last;
  if (!std::isinf(last.end)) {
    const double late_seconds = over_below(last.end - job.due, kMicrosPerSecond);
    const double late_cost = times_below(late_weight_, late_seconds);
    least = std::min(least, add_below(late_cost, rent_below(job)));
  }
  return std::max(0.0, least);
}

// Whole runs are checked in whole numbers of microseconds, which sums must not outgrow.
Status check_whole(const Problem& problem, const PriceGrid& grid) {
  constexpr double kInstantMax = 0x1p51;
  for (const double edge : grid.edges) {
    if (edge != std::floor(edge) || edge > kInstantMax) {
      return Error{fmt::format("edge {} of the prices is no whole number up to 2^51", edge)};
    }
  }
  for (const BoundJob& job : problem.jobs) {
    const double longest = *std::max_element(job.time.begin(), job.time.end());
    if (job.release + longest > kInstantMax || std::fabs(job.due) > kInstantMax) {
      return Error{"the instants of a job are beyond 2^51 microseconds"};
    }
  }
  return {};
}

double split_runs_below(const Problem& problem, const Weights& weights, const PriceGrid& grid,
                        double value) {
  JobResponse response(grid, weights.late);
  JobCheck check(grid, weights.late);
  std::vector<JobResponse::Ending> endings;
  for (const BoundJob& job : problem.jobs) {
    const double claimed = response.cost_with_endings(job, endings);
    value = add_below(value, check.cost_below(job, endings, claimed));
  }
  return value;
}

double whole_runs_below(const Problem& problem, const Weights& weights, const PriceGrid& grid,
                        double value) {
  const WholeRunCheck check(grid, weights.late);
  for (const BoundJob& job : problem.jobs) value = add_below(value, check.cost_below(job));
  return value;
}

}  // namespace

Result<double> proven_value(const Problem& problem, const Weights& weights, const PriceGrid& grid,
                            Runs runs) {
  const Status sound = check_grid(problem, weights, grid);
  if (!sound) return sound.error();
  if (runs == Runs::kWhole) {
    const Status whole = check_whole(problem, grid);
    if (!whole) return whole.error();
  }
  double value = 0;
  for (std::size_t i = 0; i < grid.tail(); ++i) {
    const double seconds = over_above(grid.end(i) - grid.begin(i), kMicrosPerSecond);
    const double earned = earned_above(problem, weights.energy, grid, i);
    value = add_below(value, -times_above(times_above(seconds, earned), problem.gpus));
  }
  return runs == Runs::kWhole ? whole_runs_below(problem, weights, grid, value)
                              : split_runs_below(problem, weights, grid, value);
}

}  // namespace partita::bounds
