#include "workload/generators/thinning.h"

#include <algorithm>

namespace partita::workload {

ThinnedArrivals::ThinnedArrivals(const std::array<double, 24>& rates_per_min, double multiplier,
                                 double hours, Rng rng)
    : end_s_(hours * 3600), rng_(rng) {
  const double highest = *std::max_element(rates_per_min.begin(), rates_per_min.end());
  if (highest * multiplier <= 0) return;
  for (std::size_t hour = 0; hour < 24; ++hour) acceptance_[hour] = rates_per_min[hour] / highest;
  gap_mean_s_ = 60 / (highest * multiplier);
}

std::optional<Micros> ThinnedArrivals::next() {
  while (gap_mean_s_ > 0 && now_s_ < end_s_) {
    now_s_ += rng_.exponential(gap_mean_s_);
    const double chance = rng_.uniform();
    if (now_s_ >= end_s_) break;
    const auto hour = static_cast<std::size_t>(now_s_ / 3600) % 24;
    if (chance >= acceptance_[hour]) continue;
    // Rounding may not carry an arrival out of its window.
    return std::min(micros_from_seconds(now_s_), micros_from_seconds(end_s_) - Micros{1});
  }
  return {};
}

double ThinnedArrivals::progress() const {
  if (gap_mean_s_ <= 0 || end_s_ <= 0) return 1;
  return std::min(1.0, now_s_ / end_s_);
}

}  // namespace partita::workload
