#include "policies/orders/modified_due_date.h"

#include <algorithm>
#include <cmath>

namespace partita::policies {

std::int64_t ModifiedDueDate::key(const Candidate& candidate) const {
  const std::int64_t completion = candidate.now.count +
                                  candidate.job.overhead(candidate.now).count +
                                  std::llround(candidate.fastest_offered_remaining());
  return std::max(candidate.job.deadline.count, completion);
}

std::int64_t FastestModifiedDueDate::key(const Candidate& candidate) const {
  const std::int64_t completion = candidate.now.count + std::llround(candidate.fastest_remaining());
  return std::max(candidate.job.deadline.count, completion);
}

}  // namespace partita::policies
