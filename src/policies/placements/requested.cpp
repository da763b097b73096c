#include "policies/placements/requested.h"

namespace partita::policies {

void Requested::rebuild(const decide::View& view) {
  model_ = view.cluster.model;
  free_.rebuild(view, before_);
}

SliceId Requested::claim(const Candidate& candidate) {
  const std::uint32_t rank = free_.first(asked_(*model_, candidate.job));
  if (rank == FreeSlices::kNone) return {};
  free_.take(rank);
  return free_.at(rank).slice;
}

}  // namespace partita::policies
