#include "sim/tally.h"

#include <algorithm>
#include <cmath>

namespace partita::sim {

double et_score(double a, double energy_w_min, double mean_tardiness_min) {
  return (a * energy_w_min + mean_tardiness_min) / (a + 1);
}

// Nearest rank: the smallest value that at least this share of the jobs does not exceed.
double Tally::quantile_seconds(double share) {
  const double wanted = std::ceil(share * static_cast<double>(tardiness_.size()));
  const auto index = static_cast<std::size_t>(std::max(1.0, wanted)) - 1;
  const auto at = tardiness_.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(tardiness_.begin(), at, tardiness_.end());
  return Micros{*at}.to_seconds();
}

void Tally::summarise(RunResult& result) {
  result.jobs = tardiness_.size();
  if (tardiness_.empty()) return;
  std::int64_t largest = 0;
  for (const std::int64_t tardiness : tardiness_) {
    largest = std::max(largest, tardiness);
    result.late_jobs += tardiness > 0 ? 1U : 0U;
  }
  const auto count = static_cast<double>(tardiness_.size());
  result.mean_tardiness_s = tardiness_sum().to_seconds() / count;
  result.mean_wait_s = Micros{wait_sum_}.to_seconds() / count;
  result.max_tardiness_s = Micros{largest}.to_seconds();
  result.p50_tardiness_s = quantile_seconds(0.50);
  result.p95_tardiness_s = quantile_seconds(0.95);
  result.p99_tardiness_s = quantile_seconds(0.99);
}

}  // namespace partita::sim
