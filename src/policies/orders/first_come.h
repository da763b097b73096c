// First come, first served.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

class FirstCome : public JobOrder {
 public:
  std::int64_t key(const Candidate& candidate) const override;
};

}  // namespace partita::policies
