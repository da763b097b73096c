#include <algorithm>
#include <cmath>

#include "bounds/prices/ascent.h"
#include "bounds/solver.h"

namespace partita::bounds {
namespace {

constexpr int kCutsMax = 400;
constexpr double kCloseEnough = 1e-10;
// Of the last prices only this much is used, so that rounding lets no load earn.
constexpr double kCaution = 1 - 1e-12;

// Prices up to where every GPU has to be on, and others after it.
PriceGrid two_intervals(const Problem& problem) {
  PriceGrid grid;
  grid.modes = problem.modes.size();
  grid.edges = {0, std::max(1.0, std::ceil(problem.on_until))};
  grid.prices.resize(2 * grid.modes);
  return grid;
}

// Columns are the prices and the value of the bound; with the second prices no load earns. Every
// value met is a plane that the value lies below.
LinearModel first_model(const Problem& problem, const Weights& weights) {
  const std::size_t modes = problem.modes.size();
  double dearest = 0;
  for (const Load& load : problem.loads) dearest = std::max(dearest, load.watts_after);
  LinearModel model;
  for (std::size_t i = 0; i < 2 * modes; ++i) model.add_column(0, 0, 2 * weights.energy * dearest);
  model.add_column(-1, -kNoLimit, kNoLimit);
  for (const Load& load : problem.loads) {
    if (load.compute == 0) continue;
    const std::size_t row = model.add_row(-kNoLimit, weights.energy * load.watts_after);
    for (std::size_t mode = 0; mode < modes; ++mode) {
      if (load.count[mode] > 0) model.set(row, modes + mode, load.count[mode]);
    }
  }
  return model;
}

void add_plane(LinearModel& model, const PriceGrid& grid, const PriceValue& met) {
  double constant = met.value;
  for (std::size_t i = 0; i < grid.prices.size(); ++i) {
    constant -= (met.asked[i] - met.offered[i]) * grid.prices[i];
  }
  const std::size_t row = model.add_row(-kNoLimit, constant);
  model.set(row, grid.prices.size(), 1);
  for (std::size_t i = 0; i < grid.prices.size(); ++i) {
    if (met.asked[i] != met.offered[i]) model.set(row, i, met.offered[i] - met.asked[i]);
  }
}

// The solver holds limits to a tolerance of its own; the last prices are shrunk until they hold.
void make_affordable(const Problem& problem, const Weights& weights, PriceGrid& grid) {
  double excess = 1;
  double* last = grid.prices.data() + grid.modes;
  for (const Load& load : problem.loads) {
    double price = 0;
    for (std::size_t mode = 0; mode < grid.modes; ++mode) price += last[mode] * load.count[mode];
    const double affordable = weights.energy * load.watts_after;
    if (price > affordable) excess = std::max(excess, price / affordable);
  }
  for (std::size_t mode = 0; mode < grid.modes; ++mode) last[mode] *= kCaution / excess;
}

}  // namespace

// By cutting planes, from the linear prices.
PriceGrid steady_prices(const Problem& problem, const Weights& weights) {
  PriceGrid now = two_intervals(problem);
  const std::vector<double> before = tail_prices(problem, weights, 0);
  const std::vector<double> after = tail_prices(problem, weights, now.edges.back());
  std::ranges::copy(before, now.prices.begin());
  std::ranges::copy(after, now.prices.begin() + static_cast<std::ptrdiff_t>(now.modes));
  PriceGrid best = now;
  double best_value = -kNoLimit;
  LinearModel model = first_model(problem, weights);
  for (int cut = 0; cut < kCutsMax; ++cut) {
    const PriceValue met = evaluate_prices(problem, weights, now);
    if (met.value > best_value) {
      best_value = met.value;
      best = now;
    }
    add_plane(model, now, met);
    const LpAnswer answer = solve_linear(model);
    if (!answer.optimal) break;
    if (-answer.value - best_value <= kCloseEnough * std::fabs(best_value)) break;
    for (std::size_t i = 0; i < now.prices.size(); ++i) {
      now.prices[i] = std::max(0.0, answer.columns[i]);
    }
    make_affordable(problem, weights, now);
  }
  return best;
}

}  // namespace partita::bounds
