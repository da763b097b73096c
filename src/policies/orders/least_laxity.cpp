#include "policies/orders/least_laxity.h"

#include <cmath>

namespace partita::policies {

// The instant is common to all jobs of a round, so it is left out: laxity + now has the same order,
// and the key of a waiting job never changes.
std::int64_t LeastLaxity::key(const Candidate& candidate) const {
  return candidate.job.deadline.count - std::llround(candidate.fastest_remaining());
}

}  // namespace partita::policies
