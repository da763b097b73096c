// Holm's correction: p-values of many comparisons, such that the chance of any false claim among
// those at or below alpha is at most alpha.
#pragma once

#include <span>
#include <vector>

namespace partita::experiment {

// In the order given. Holds whatever the dependence between the comparisons.
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace partita::experiment
