// Wilcoxon's signed-rank test: are paired differences as often above zero as below, size
// considered?
#pragma once

#include <cstddef>
#include <span>

namespace partita::experiment {

inline constexpr std::size_t kExactDaysMax = 25;

struct Wilcoxon {
  double rank_sum_positive = 0;
  std::size_t differences = 0;  // that are not zero; zeros say nothing and are dropped
  bool exact = false;
  double p = 1;  // two-sided
};

// Exact up to kExactDaysMax differences when their sizes are all different and none is zero; else
// the normal approximation with mean ranks, the correction for ties and that for continuity.
Wilcoxon wilcoxon_signed_rank(std::span<const double> differences);

}  // namespace partita::experiment
