// Shortest job first, by its whole time on the fastest slice it may use.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

class Shortest : public JobOrder {
 public:
  std::int64_t key(const Candidate& candidate) const override;
};

}  // namespace partita::policies
