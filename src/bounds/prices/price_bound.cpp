#include "bounds/prices/price_bound.h"

#include <algorithm>

#include "bounds/whole_run.h"

namespace partita::bounds {
namespace {

const Load& best_load(const Problem& problem, double energy_weight, bool after,
                      const double* prices, double& earned) {
  const Load* best = &problem.loads.front();
  earned = 0;
  for (const Load& load : problem.loads) {
    double gain = -energy_weight * (after ? load.watts_after : load.watts);
    for (std::size_t mode = 0; mode < problem.modes.size(); ++mode) {
      gain += prices[mode] * load.count[mode];
    }
    if (gain <= earned) continue;
    earned = gain;
    best = &load;
  }
  return *best;
}

// A response is a JobResponse or a WholeRun.
template <typename Response>
void add_jobs(const Problem& problem, Response response, PriceValue& result) {
  for (const BoundJob& job : problem.jobs) {
    result.value += response.cost(job);
    response.add_usage(result.asked);
  }
}

}  // namespace

PriceValue evaluate_prices(const Problem& problem, const Weights& weights, const PriceGrid& grid,
                           Runs runs) {
  PriceValue result;
  result.asked.resize(grid.prices.size());
  result.offered.resize(grid.prices.size());
  for (std::size_t i = 0; i < grid.tail(); ++i) {
    double earned = 0;
    const bool after = is_after(problem, grid.begin(i));
    const Load& load = best_load(problem, weights.energy, after, grid.at(i), earned);
    const double seconds = (grid.end(i) - grid.begin(i)) * 1e-6 * problem.gpus;
    result.value -= seconds * earned;
    for (std::size_t mode = 0; mode < grid.modes; ++mode) {
      result.offered[i * grid.modes + mode] = seconds * load.count[mode];
    }
  }
  if (runs == Runs::kWhole) {
    add_jobs(problem, WholeRun(grid, weights.late), result);
  } else {
    add_jobs(problem, JobResponse(grid, weights.late), result);
  }
  return result;
}

std::vector<double> tail_prices(const Problem& problem, const Weights& weights, double begin) {
  // Rounding must not let a load earn either.
  constexpr double kCaution = 1 - 1e-12;
  const bool after = is_after(problem, begin);
  double watts = std::numeric_limits<double>::infinity();  // the least of a busy compute slice
  for (const Load& load : problem.loads) {
    if (load.compute == 0) continue;
    watts = std::min(watts, (after ? load.watts_after : load.watts) / load.compute);
  }
  std::vector<double> prices;
  for (const Mode& mode : problem.modes) {
    prices.push_back(weights.energy * watts * kCaution * mode.compute);
  }
  return prices;
}

}  // namespace partita::bounds
