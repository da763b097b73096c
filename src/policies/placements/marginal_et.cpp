#include "policies/placements/marginal_et.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace partita::policies {

void MarginalEt::rebuild(const decide::View& view) {
  ByOccupancy::rebuild(view);
  watts_ = view.power.watts;
  et_a_ = view.et_a;
}

double MarginalEt::cost(const Candidate& candidate, std::size_t level,
                        const RankedSlice& slice) const {
  constexpr double kMicrosPerMinute = 60e6;
  const double run = candidate.remaining(slice.size_index);
  const double late_minutes = std::max(0.0, run - candidate.slack()) / kMicrosPerMinute;
  const std::size_t busy = level + static_cast<std::size_t>(slice.compute_slices);
  const double extra_watts = watts_[busy] - watts_[level];
  const auto overhead = static_cast<double>(candidate.job.overhead(candidate.now).count);
  const double extra_energy = extra_watts * (run + overhead) / kMicrosPerMinute;
  return (et_a_ * extra_energy + late_minutes) / (et_a_ + 1);
}

SliceId MarginalEt::claim(const Candidate& candidate) {
  std::uint32_t best_rank = FreeSlices::kNone;
  double best_cost = std::numeric_limits<double>::infinity();
  for (std::size_t level = 0; level < kLevels; ++level) {
    std::uint32_t left = free_profiles(level) & candidate.job.fits;
    for (; left != 0; left &= left - 1) {
      const auto profile = static_cast<std::uint16_t>(left & (0 - left));
      const std::uint32_t rank = first(level, profile);
      const double slice_cost = cost(candidate, level, at(rank));
      if (slice_cost > best_cost || (slice_cost == best_cost && rank > best_rank)) continue;
      best_rank = rank;
      best_cost = slice_cost;
    }
  }
  return take(best_rank);
}

}  // namespace partita::policies
