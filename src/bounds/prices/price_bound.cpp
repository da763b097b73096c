#include "bounds/prices/price_bound.h"

#include <algorithm>

#include "bounds/whole_run.h"

namespace partita::bounds {
namespace {

const Load& best_load(const Instance& instance, double energy_weight, bool after,
                      const double* prices, double& earned) {
  const Load* best = &instance.loads.front();
  earned = 0;
  for (const Load& load : instance.loads) {
    double gain = -energy_weight * (after ? load.watts_after : load.watts);
    for (std::size_t mode = 0; mode < instance.modes.size(); ++mode) {
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
void add_jobs(const Instance& instance, Response response, PriceValue& result) {
  for (const BoundJob& job : instance.jobs) {
    result.value += response.cost(job);
    response.add_usage(result.asked);
  }
}

}  // namespace

PriceValue evaluate_prices(const Instance& instance, const Weights& weights, const PriceGrid& grid,
                           Runs runs) {
  PriceValue result;
  result.asked.resize(grid.prices.size());
  result.offered.resize(grid.prices.size());
  for (std::size_t i = 0; i < grid.tail(); ++i) {
    double earned = 0;
    const bool after = is_after(instance, grid.begin(i));
    const Load& load = best_load(instance, weights.energy, after, grid.at(i), earned);
    const double seconds = (grid.end(i) - grid.begin(i)) * 1e-6 * instance.gpus;
    result.value -= seconds * earned;
    for (std::size_t mode = 0; mode < grid.modes; ++mode) {
      result.offered[i * grid.modes + mode] = seconds * load.count[mode];
    }
  }
  if (runs == Runs::kWhole) {
    add_jobs(instance, WholeRun(grid, weights.late), result);
  } else {
    add_jobs(instance, JobResponse(grid, weights.late), result);
  }
  return result;
}

std::vector<double> tail_prices(const Instance& instance, const Weights& weights, double begin) {
  // Rounding must not let a load earn either.
  constexpr double kCaution = 1 - 1e-12;
  const bool after = is_after(instance, begin);
  double watts = std::numeric_limits<double>::infinity();  // the least of a busy compute slice
  for (const Load& load : instance.loads) {
    if (load.compute == 0) continue;
    watts = std::min(watts, (after ? load.watts_after : load.watts) / load.compute);
  }
  std::vector<double> prices;
  for (const Mode& mode : instance.modes) {
    prices.push_back(weights.energy * watts * kCaution * mode.compute);
  }
  return prices;
}

}  // namespace partita::bounds
