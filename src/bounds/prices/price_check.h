// The check of a price bound: what given prices prove, in directed rounding, from the definition.
#pragma once

#include "base/result.h"
#include "bounds/prices/price_bound.h"

namespace partita::bounds {

// A number that the value of these prices is not below. It costs some seconds a hundred thousand
// jobs; the search for prices is not believed in anything but the prices. Fails on a negative
// price, edges that do not rise from 0, and a tail at which a GPU would earn.
// Where jobs run whole, edges must be whole numbers.
Result<double> proven_value(const Problem& problem, const Weights& weights, const PriceGrid& grid,
                            Runs runs = Runs::kSplit);

}  // namespace partita::bounds
