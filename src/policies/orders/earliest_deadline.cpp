#include "policies/orders/earliest_deadline.h"

namespace partita::policies {

std::int64_t EarliestDeadline::key(const Candidate& candidate) const {
  return candidate.job.deadline.count;
}

}  // namespace partita::policies
