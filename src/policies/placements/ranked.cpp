#include "policies/placements/ranked.h"

#include <tuple>

namespace partita::policies {

void RankedRule::rebuild(const decide::View& view) {
  free_.rebuild(view, traits_.before);
  profiles_ = ProfilesBySize(*view.cluster.model);
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
