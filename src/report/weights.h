// Weights: which policy is the best for which weight of energy against tardiness.
//
// ET = (a * energy + tardiness) / (a + 1) orders policies by one weight a. Whoever does not believe
// the weight can read here how far it may move before another policy wins.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace partita::report {

struct Outlay {
  double energy_w_min = 0;
  double tardiness_min = 0;
};

// The weights for which a policy has the lowest ET. Without `to` it is the best for all above.
struct WeightRange {
  double from = 0;
  std::optional<double> to;
};

// One for each outlay; nothing for those that are best for no weight. Of equal outlays the first
// gets the range. The ranges cover 0 to infinity.
std::vector<std::optional<WeightRange>> best_weights(std::span<const Outlay> outlays);

}  // namespace partita::report
