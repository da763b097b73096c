#include "policies/placements/by_occupancy.h"

#include <algorithm>

#include "policies/placements/ranked.h"

namespace partita::policies {

void ByOccupancy::rebuild(const decide::View& view) {
  profiles_ = ProfilesBySize(*view.cluster.model);
  slices_ = usable_slices(view.cluster);
  std::stable_sort(slices_.begin(), slices_.end(), lower_gpu_smaller_first);
  const auto count = static_cast<std::uint32_t>(slices_.size());
  const std::size_t profiles = view.cluster.model->profiles.size();
  for (Level& level : levels_) {
    level.free.assign(profiles, RankSet(count));
    level.counts.assign(profiles, 0);
    level.profiles = 0;
  }
  rank_of_.assign(view.cluster.slices.size(), FreeSlices::kNone);
  compute_of_.clear();
  for (const cluster::Slice& slice : view.cluster.slices) {
    compute_of_.push_back(slice.compute_slices);
  }
  gpus_.assign(view.cluster.gpu_count(), {});
  is_free_.assign(count, 0);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const RankedSlice& slice = slices_[rank];
    rank_of_[slice.slice.value] = rank;
    GpuSlices& gpu = gpus_[slice.gpu];
    if (gpu.count++ == 0) gpu.first_rank = rank;
  }
  for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    gpus_[gpu].claimed = view.cluster.gpus[gpu].busy_compute_slices;
  }
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (!view.cluster.slice(slices_[rank].slice).open()) continue;
    is_free_[rank] = 1;
    put(rank, gpus_[slices_[rank].gpu].claimed);
  }
}

void ByOccupancy::free_all() {
  for (std::uint32_t rank = 0; rank < slices_.size(); ++rank) {
    if (is_free_[rank] != 0) pull(rank, gpus_[slices_[rank].gpu].claimed);
  }
  for (GpuSlices& gpu : gpus_) gpu.claimed = 0;
  for (std::uint32_t rank = 0; rank < slices_.size(); ++rank) {
    is_free_[rank] = 1;
    put(rank, 0);
  }
}

void ByOccupancy::release(SliceId slice) {
  GpuSlices& gpu = gpus_[cluster::gpu_of(slice).value];
  change_occupancy(gpu, -compute_of_[slice.value]);
  const std::uint32_t rank = rank_of_[slice.value];
  if (rank == FreeSlices::kNone) return;  // it closes: its GPU is less busy, but it is not free
  is_free_[rank] = 1;
  put(rank, gpu.claimed);
}

SliceId ByOccupancy::take(std::uint32_t rank) {
  if (rank == FreeSlices::kNone) return {};
  GpuSlices& gpu = gpus_[slices_[rank].gpu];
  pull(rank, gpu.claimed);
  is_free_[rank] = 0;
  change_occupancy(gpu, slices_[rank].compute_slices);
  return slices_[rank].slice;
}

std::uint16_t ByOccupancy::free_profiles() const {
  unsigned mask = 0;
  for (const Level& level : levels_) mask |= level.profiles;
  return static_cast<std::uint16_t>(mask);
}

std::uint32_t ByOccupancy::first(std::size_t level, std::uint16_t profiles) const {
  std::uint32_t best = FreeSlices::kNone;
  for (std::uint32_t left = profiles & levels_[level].profiles; left != 0; left &= left - 1) {
    const auto profile = static_cast<std::size_t>(std::countr_zero(left));
    best = std::min(best, levels_[level].free[profile].first());
  }
  return best;
}

void ByOccupancy::put(std::uint32_t rank, std::size_t at) {
  Level& level = levels_[at];
  const mig::ProfileIndex profile = slices_[rank].profile;
  level.free[profile].add(rank);
  if (level.counts[profile]++ == 0) {
    level.profiles = static_cast<std::uint16_t>(level.profiles | (1U << profile));
  }
}

void ByOccupancy::pull(std::uint32_t rank, std::size_t at) {
  Level& level = levels_[at];
  const mig::ProfileIndex profile = slices_[rank].profile;
  level.free[profile].remove(rank);
  if (--level.counts[profile] == 0) {
    level.profiles = static_cast<std::uint16_t>(level.profiles & ~(1U << profile));
  }
}

void ByOccupancy::change_occupancy(GpuSlices& gpu, int by) {
  const std::uint8_t before = gpu.claimed;
  gpu.claimed = static_cast<std::uint8_t>(gpu.claimed + by);
  for (std::uint32_t rank = gpu.first_rank; rank < gpu.first_rank + gpu.count; ++rank) {
    if (is_free_[rank] == 0) continue;
    pull(rank, before);
    put(rank, gpu.claimed);
  }
}

}  // namespace partita::policies
