// Modified due date: the deadline, or the earliest possible completion once that is later.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

// By the time on the slice to be filled: a job that the free slice would make late goes behind one
// that it would not.
class ModifiedDueDate : public JobOrder {
 public:
  KeyChange key_change() const override { return KeyChange::kWithTime; }
  bool by_slice() const override { return true; }
  bool is_modified_due_date() const override { return true; }
  std::int64_t key(const Candidate& candidate) const override;
};

// By the time on the fastest size the job may use, even one that no layout offers: the textbook
// rule for machines that are all alike.
class FastestModifiedDueDate : public JobOrder {
 public:
  KeyChange key_change() const override { return KeyChange::kWithTime; }
  std::int64_t key(const Candidate& candidate) const override;
};

}  // namespace partita::policies
