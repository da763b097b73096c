// The search for prices that prove much. Nothing here has to be believed: any prices prove
// something, and price_check says what.
#pragma once

#include <cstddef>
#include <functional>

#include "bounds/prices/price_bound.h"

namespace partita::bounds {

struct Effort {
  std::size_t intervals_max = 10'240;  // of the finest grid, which has as many or at least half
  int rounds = 60;  // evaluations on each grid, from coarse to fine; where jobs run whole, none
  int rounds_by_mode = 120;  // then, on the finest, with a price of its own for each mode
  Runs runs = Runs::kSplit;
  // Prices that others found, for a second climb. Only where jobs run whole.
  const PriceGrid* start = nullptr;
  // Seconds left; asked before every evaluation, none is begun when it gives 0 or less.
  std::function<double()> seconds_left = [] { return 1e9; };
};

struct Found {
  PriceGrid grid;
  int evaluations = 0;
  bool out_of_time = false;
};

// The best prices met. The same arguments give the same prices unless time runs out.
Found search_prices(const Problem& problem, const Weights& weights, const Effort& effort);

// For weights without tardiness: the best prices that change only once, where GPUs no longer have
// to be on. Exact but for the solver's tolerance.
PriceGrid steady_prices(const Problem& problem, const Weights& weights);

}  // namespace partita::bounds
