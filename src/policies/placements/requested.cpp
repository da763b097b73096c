#include "policies/placements/requested.h"

#include "policies/placements/ranked.h"
#include "policies/request.h"

namespace partita::policies {

void Requested::rebuild(const decide::View& view) {
  model_ = view.cluster.model;
  free_.rebuild(view, lower_gpu_first);
}

SliceId Requested::claim(const Candidate& candidate) {
  const auto wanted = static_cast<std::uint16_t>(1U << requested_profile(*model_, candidate.job));
  const std::uint32_t rank = free_.first(wanted);
  if (rank == FreeSlices::kNone) return {};
  free_.take(rank);
  return free_.at(rank).slice;
}

}  // namespace partita::policies
