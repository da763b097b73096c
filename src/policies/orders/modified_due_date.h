// Modified due date: the deadline, or the earliest possible completion once that is later.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

class ModifiedDueDate : public JobOrder {
 public:
  KeyChange key_change() const override { return KeyChange::kWithTime; }
  std::int64_t key(const Candidate& candidate) const override;
};

}  // namespace partita::policies
