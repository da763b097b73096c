#include "policies/placements/most_packed.h"

#include <limits>

#include "policies/placements/ranked.h"

namespace partita::policies {

SliceId MostPacked::claim(const Candidate& candidate) {
  const std::uint16_t wanted = profiles_.on_time(candidate);
  for (std::size_t level = kLevels; level-- > 0;) {
    const std::uint32_t rank = first(level, wanted);
    if (rank != FreeSlices::kNone) return take(rank);
  }
  return take(earliest_finish(candidate));
}

std::uint32_t MostPacked::earliest_finish(const Candidate& candidate) const {
  std::uint32_t best_rank = FreeSlices::kNone;
  double best_time = std::numeric_limits<double>::infinity();
  for (std::size_t level = kLevels; level-- > 0;) {
    for (std::size_t size = 0; size < workload::kSliceSizeCount; ++size) {
      if (candidate.job.time[size] >= best_time) continue;
      const std::uint32_t rank = first(level, profiles_.of_size(size) & candidate.job.fits);
      if (rank == FreeSlices::kNone) continue;
      best_rank = rank;
      best_time = candidate.job.time[size];
    }
  }
  return best_rank;
}

}  // namespace partita::policies
