#include <algorithm>
#include <cmath>

#include "bounds/ascent.h"
#include "bounds/solver.h"

namespace partita::bounds {
namespace {

constexpr int kCutsMax = 200;
constexpr double kCloseEnough = 1e-10;
// Of each price only this much is used, so that rounding lets no load earn.
constexpr double kCaution = 1 - 1e-12;

// The sum of what jobs pay when each takes its cheapest mode, and how often each mode is taken.
struct Rent {
  double value = 0;
  std::vector<double> seconds;  // by mode
};

Rent rent_at(const Instance& instance, const std::vector<double>& prices) {
  Rent rent{0, std::vector<double>(instance.modes.size())};
  for (const BoundJob& job : instance.jobs) {
    double least = kNoLimit;
    std::size_t chosen = 0;
    for (std::size_t mode = 0; mode < instance.modes.size(); ++mode) {
      if (job.time[mode] <= 0) continue;
      const double cost = prices[mode] * job.time[mode] * 1e-6;
      if (cost >= least) continue;
      least = cost;
      chosen = mode;
    }
    rent.value += least;
    rent.seconds[chosen] += job.time[chosen] * 1e-6;
  }
  return rent;
}

// Maximise the rent over prices at which no load earns, by cutting planes: columns are the prices
// and the rent, and every rent met limits the rent from above.
LinearModel first_model(const Instance& instance, const Weights& weights) {
  LinearModel model;
  for (std::size_t mode = 0; mode < instance.modes.size(); ++mode) {
    model.add_column(0, 0, kNoLimit);
  }
  model.add_column(-1, -kNoLimit, kNoLimit);
  for (const Load& load : instance.loads) {
    if (load.compute == 0) continue;
    const std::size_t row = model.add_row(-kNoLimit, weights.energy * load.watts);
    for (std::size_t mode = 0; mode < instance.modes.size(); ++mode) {
      if (load.count[mode] > 0) model.set(row, mode, load.count[mode]);
    }
  }
  return model;
}

}  // namespace

// The linear prices of the start are kept when the solver finds nothing better.
PriceGrid steady_prices(const Instance& instance, const Weights& weights) {
  const std::size_t modes = instance.modes.size();
  std::vector<double> best = tail_prices(instance, weights);
  Rent rent = rent_at(instance, best);
  double best_value = rent.value;
  LinearModel model = first_model(instance, weights);
  for (int cut = 0; cut < kCutsMax; ++cut) {
    const std::size_t row = model.add_row(-kNoLimit, 0);
    model.set(row, modes, 1);
    for (std::size_t mode = 0; mode < modes; ++mode) {
      if (rent.seconds[mode] > 0) model.set(row, mode, -rent.seconds[mode]);
    }
    const LpAnswer answer = solve_linear(model);
    if (!answer.optimal) break;
    std::vector<double> prices(answer.columns.begin(),
                               answer.columns.begin() + static_cast<std::ptrdiff_t>(modes));
    for (double& price : prices) price = std::max(0.0, price);
    rent = rent_at(instance, prices);
    if (rent.value > best_value) {
      best_value = rent.value;
      best = prices;
    }
    if (-answer.value - best_value <= kCloseEnough * std::fabs(best_value)) break;
  }
  // The solver holds limits to a tolerance of its own; shrink until they hold.
  double excess = 1;
  for (const Load& load : instance.loads) {
    double price = 0;
    for (std::size_t mode = 0; mode < modes; ++mode) price += best[mode] * load.count[mode];
    if (price > weights.energy * load.watts)
      excess = std::max(excess, price / (weights.energy * load.watts));
  }
  for (double& price : best) price *= kCaution / excess;
  return {modes, {0.0}, best};
}

}  // namespace partita::bounds
