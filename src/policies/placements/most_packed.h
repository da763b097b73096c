// MostPacked: the busiest GPU that has a slice on which the job is on time (SMART-MIG's EDF).
#pragma once

#include "policies/placements/by_occupancy.h"

namespace partita::policies {

// Inside the GPU the slowest such slice; when the job is on time nowhere, the slice on which it
// finishes first, on the busiest GPU that has one.
class MostPacked : public ByOccupancy {
 public:
  SliceId claim(const Candidate& candidate) override;

 private:
  std::uint32_t earliest_finish(const Candidate& candidate) const;
};

}  // namespace partita::policies
