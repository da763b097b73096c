#include "policies/orders/apparent_tardiness.h"

#include <algorithm>
#include <cmath>

namespace partita::policies {

void ApparentTardiness::begin_round(std::span<const Candidate> candidates) {
  double sum = 0;
  for (const Candidate& candidate : candidates) sum += candidate.fastest_remaining();
  mean_remaining_ = candidates.empty() ? 1 : sum / static_cast<double>(candidates.size());
}

std::int64_t ApparentTardiness::key(const Candidate& candidate) const {
  // The logarithm of the index, in billionths, has the same order and does not underflow for jobs
  // whose deadlines are days away.
  constexpr double kResolution = 1e9;
  const double remaining = std::max(1.0, candidate.fastest_remaining());
  const double slack = std::max(0.0, candidate.slack() - remaining);
  const double log_index =
      -slack / (kLookAhead * std::max(1.0, mean_remaining_)) - std::log(remaining);
  return std::llround(-std::max(log_index, -9e9) * kResolution);
}

}  // namespace partita::policies
