#include "policies/orders/shortest.h"

#include <cmath>

namespace partita::policies {

std::int64_t Shortest::key(const Candidate& candidate) const {
  return std::llround(candidate.job.fastest_time());
}

}  // namespace partita::policies
