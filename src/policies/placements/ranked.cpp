#include "policies/placements/ranked.h"

#include <limits>
#include <tuple>

namespace partita::policies {

void RankedRule::rebuild(const decide::View& view) {
  free_.rebuild(view, traits_.before);
  if (profiles_of_ == view.cluster.model) return;
  profiles_of_ = view.cluster.model;
  profiles_ = ProfilesBySize(*profiles_of_);
}

std::uint64_t SmallRound::earliest_by_search(const decide::ActiveJob& job, std::uint64_t free,
                                             const std::uint64_t* words,
                                             const ProfilesBySize& profiles) {
  std::uint64_t best = 0;
  double best_time = std::numeric_limits<double>::infinity();
  for (std::size_t size = 0; size < workload::kSliceSizeCount; ++size) {
    const std::uint64_t ranks = free & words[profiles.of_size(size) & job.fits];
    if (ranks == 0 || job.time[size] > best_time) continue;
    best = job.time[size] == best_time ? best | ranks : ranks;
    best_time = job.time[size];
  }
  return best;
}

bool smaller_first(const RankedSlice& a, const RankedSlice& b) {
  return std::tie(a.compute_slices, a.memory_gib) < std::tie(b.compute_slices, b.memory_gib);
}

bool larger_first(const RankedSlice& a, const RankedSlice& b) {
  return std::tie(b.compute_slices, a.memory_gib) < std::tie(a.compute_slices, b.memory_gib);
}

bool lower_gpu_first(const RankedSlice& a, const RankedSlice& b) {
  return std::tie(a.gpu, a.start) < std::tie(b.gpu, b.start);
}

bool wide_gpus_first(const RankedSlice& a, const RankedSlice& b) {
  return std::tie(b.gpu_mean_size, a.gpu, a.compute_slices, a.memory_gib) <
         std::tie(a.gpu_mean_size, b.gpu, b.compute_slices, b.memory_gib);
}

bool lower_gpu_smaller_first(const RankedSlice& a, const RankedSlice& b) {
  return std::tie(a.gpu, a.compute_slices, a.memory_gib) <
         std::tie(b.gpu, b.compute_slices, b.memory_gib);
}

}  // namespace partita::policies
