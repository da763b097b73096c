// Categorical order (SMART-MIG): jobs that need a large slice first, then the earliest deadline.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

class Category : public JobOrder {
 public:
  std::int64_t key(const Candidate& candidate) const override;

  // 1 if a 4g slice gives less than 0.8 of the job's best throughput, else 2 if a 2g does, else 3
  // if a 1g does, else 4. The best throughput is that of 7g in the paper, whose curves only rise.
  static int category(const decide::ActiveJob& job);
};

}  // namespace partita::policies
