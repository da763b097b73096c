#include "policies/orders/first_come.h"

namespace partita::policies {

std::int64_t FirstCome::key(const Candidate& candidate) const {
  return candidate.job.arrival.count;
}

}  // namespace partita::policies
