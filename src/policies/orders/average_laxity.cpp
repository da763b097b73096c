#include "policies/orders/average_laxity.h"

#include <cmath>

namespace partita::policies {

// The instant is left out as in LeastLaxity.
std::int64_t AverageLaxity::key(const Candidate& candidate) const {
  double sum = 0;
  int sizes = 0;
  for (const double time : candidate.job.time) {
    if (!std::isfinite(time)) continue;
    sum += time;
    ++sizes;
  }
  return candidate.job.deadline.count - std::llround(candidate.work() * sum / sizes);
}

}  // namespace partita::policies
