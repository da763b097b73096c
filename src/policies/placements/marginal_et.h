// MarginalEt: the slice whose use adds least to energy and tardiness together (SMART-MIG's MET).
#pragma once

#include <vector>

#include "policies/placements/by_occupancy.h"

namespace partita::policies {

// Cost of a slice: (a * extra energy + tardiness) / (a + 1) in W·min and minutes, the extra energy
// being that of its GPU until this job is done if nothing else were placed there.
class MarginalEt : public ByOccupancy {
 public:
  void rebuild(const decide::View& view) override;
  SliceId claim(const Candidate& candidate) override;

 private:
  double cost(const Candidate& candidate, std::size_t level, const RankedSlice& slice) const;

  std::vector<double> watts_;
  double et_a_ = 0;
};

}  // namespace partita::policies
