#include "experiment/statistics/holm.h"

#include <algorithm>
#include <numeric>

namespace partita::experiment {

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const double factor = static_cast<double>(order.size() - place);
    largest = std::max(largest, std::min(1.0, factor * p_values[order[place]]));
    adjusted[order[place]] = largest;
  }
  return adjusted;
}

}  // namespace partita::experiment
