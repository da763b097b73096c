// Least laxity first: deadline less the time still needed on the fastest slice.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

class LeastLaxity : public JobOrder {
 public:
  KeyChange key_change() const override { return KeyChange::kWithProgress; }
  std::int64_t key(const Candidate& candidate) const override;
};

}  // namespace partita::policies
