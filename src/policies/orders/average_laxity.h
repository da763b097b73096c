// Least average laxity first: the time still needed is averaged over the slice sizes.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

class AverageLaxity : public JobOrder {
 public:
  KeyChange key_change() const override { return KeyChange::kWithProgress; }
  std::int64_t key(const Candidate& candidate) const override;
};

}  // namespace partita::policies
