// SliceRule: which free slice a job gets. One half of a scheduler; the other is JobOrder.
#pragma once

#include <cstdint>

#include "decide/view.h"
#include "policies/candidate.h"

namespace partita::policies {

// Keeps its own account of which slices are free: begun from the cluster, then told of every
// change.
class SliceRule {
 public:
  virtual ~SliceRule() = default;

  // Learns the slices that exist and do not close; free are the idle ones.
  virtual void rebuild(const decide::View& view) = 0;
  // All of them are free again: a preemptive round begins.
  virtual void free_all() = 0;
  virtual void release(SliceId slice) = 0;
  // A free slice was given to a job otherwise than by claim().
  virtual void occupy(SliceId slice) = 0;

  // Picks a free slice that fits the job and takes it; not valid when it prefers to wait. A job
  // must not wait while a slice that fits it is free, unless the rule says so in its summary.
  virtual SliceId claim(const Candidate& candidate) = 0;

  // Whether a job may wait although a slice that fits it is free.
  virtual bool may_wait() const { return false; }

  // Profiles of which at least one slice is free, bit i for profile i.
  virtual std::uint16_t free_profiles() const = 0;
};

}  // namespace partita::policies
