// JobOrder: which job goes first. One half of a scheduler; the other is SliceRule.
#pragma once

#include <cstdint>
#include <span>

#include "policies/candidate.h"

namespace partita::policies {

// When the key of a job can change between its arrival and its completion.
enum class KeyChange : std::uint8_t {
  kNever,
  kWithProgress,  // only while it runs
  kWithTime,
};

class JobOrder {
 public:
  virtual ~JobOrder() = default;

  virtual KeyChange key_change() const { return KeyChange::kNever; }

  // Whether the key takes the time of the job on the slice to be filled: Candidate::sizes are then
  // those of the free slices, or, where running jobs can be displaced, of all that the layouts
  // offer.
  virtual bool by_slice() const { return false; }
  // Whether that key is max(deadline, now + time): DueDateQueue then keeps the waiting jobs.
  virtual bool is_modified_due_date() const { return false; }

  // Called before a round of keys that change with time, with all jobs of the round.
  virtual void begin_round(std::span<const Candidate>) {}

  // Smaller goes first; jobs with equal keys go in order of arrival.
  virtual std::int64_t key(const Candidate& candidate) const = 0;
};

}  // namespace partita::policies
