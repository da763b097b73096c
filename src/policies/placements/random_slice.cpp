#include "policies/placements/random_slice.h"

#include "policies/placements/ranked.h"

namespace partita::policies {

void RandomSlice::rebuild(const decide::View& view) {
  free_.rebuild(view, lower_gpu_first);
}

SliceId RandomSlice::claim(const Candidate& candidate) {
  const std::uint16_t fits = candidate.job.fits;
  const std::uint32_t count = free_.count(fits);
  if (count == 0) return {};
  const std::uint32_t rank = free_.nth(fits, static_cast<std::uint32_t>(rng_.below(count)));
  free_.take(rank);
  return free_.at(rank).slice;
}

}  // namespace partita::policies
