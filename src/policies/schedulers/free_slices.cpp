#include "policies/schedulers/free_slices.h"

#include <algorithm>

namespace partita::policies {
namespace {

double mean_size(const cluster::ClusterState& cluster, GpuId gpu) {
  const auto instances = cluster.gpus[gpu.value].layout.instances();
  if (instances.empty()) return 0;
  int compute = 0;
  for (const mig::Placement placement : instances) {
    compute += cluster.model->profiles[placement.profile].compute_slices;
  }
  return static_cast<double>(compute) / static_cast<double>(instances.size());
}

}  // namespace

std::vector<RankedSlice> usable_slices(const cluster::ClusterState& cluster) {
  std::vector<RankedSlice> usable;
  for (std::uint32_t gpu = 0; gpu < cluster.gpu_count(); ++gpu) {
    const double mean = mean_size(cluster, GpuId{gpu});
    for (const mig::Placement placement : cluster.gpus[gpu].layout.instances()) {
      const SliceId id = cluster::slice_id(GpuId{gpu}, placement.start);
      const cluster::Slice& slice = cluster.slice(id);
      if (!slice.exists() || slice.closing) continue;
      usable.push_back({.slice = id,
                        .gpu = gpu,
                        .start = placement.start,
                        .profile = placement.profile,
                        .size_index = slice.size_index,
                        .compute_slices = slice.compute_slices,
                        .memory_gib = cluster.model->profiles[placement.profile].memory_gib,
                        .gpu_mean_size = mean});
    }
  }
  return usable;
}

void FreeSlices::rebuild(const decide::View& view, const SlicePreference& before) {
  slices_ = usable_slices(view.cluster);
  std::stable_sort(slices_.begin(), slices_.end(), before);
  rank_of_.assign(view.cluster.slices.size(), kNone);
  const std::size_t profile_count = view.cluster.model->profiles.size();
  small_ = slices_.size() <= kSmallSlicesMax && profile_count <= kSmallProfilesMax;
  if (small_) {
    index_small(profile_count);
  } else {
    free_.assign(profile_count, RankSet(static_cast<std::uint32_t>(slices_.size())));
  }
  ids_.clear();
  for (const RankedSlice& slice : slices_) ids_.push_back(slice.slice);
  all_profiles_ = free_profiles_ = 0;
  free_word_ = 0;
  for (std::uint32_t rank = 0; rank < slices_.size(); ++rank) {
    rank_of_[slices_[rank].slice.value] = rank;
    all_profiles_ = static_cast<std::uint16_t>(all_profiles_ | (1U << slices_[rank].profile));
    if (view.cluster.slice(slices_[rank].slice).open()) add(rank);
  }
}

void FreeSlices::index_small(std::size_t profile_count) {
  words_.assign(std::size_t{1} << profile_count, 0);
  size_words_.fill(0);
  all_word_ = 0;
  for (std::size_t rank = 0; rank < slices_.size(); ++rank) {
    const std::uint64_t bit = std::uint64_t{1} << rank;
    all_word_ |= bit;
    size_words_[slices_[rank].size_index] |= bit;
    words_[std::size_t{1} << slices_[rank].profile] |= bit;
  }
  // A mask is its lowest profile and the rest, and both come before it.
  for (std::size_t mask = 1; mask < words_.size(); ++mask) {
    const std::size_t rest = mask & (mask - 1);
    words_[mask] = words_[rest] | words_[mask ^ rest];
  }
}

void FreeSlices::free_all() {
  free_profiles_ = all_profiles_;
  if (small_) {
    free_word_ = all_word_;
    return;
  }
  for (std::uint32_t rank = 0; rank < slices_.size(); ++rank)
    free_[slices_[rank].profile].add(rank);
}

void FreeSlices::add(std::uint32_t rank) {
  const mig::ProfileIndex profile = slices_[rank].profile;
  free_profiles_ = static_cast<std::uint16_t>(free_profiles_ | (1U << profile));
  if (small_) {
    free_word_ |= std::uint64_t{1} << rank;
  } else {
    free_[profile].add(rank);
  }
}

std::uint32_t FreeSlices::first_of_many(std::uint16_t profiles) const {
  std::uint32_t best = kNone;
  for (std::uint32_t left = profiles & free_profiles_; left != 0; left &= left - 1) {
    best = std::min(best, free_[static_cast<std::size_t>(std::countr_zero(left))].first());
  }
  return best;
}

std::uint32_t FreeSlices::count(std::uint16_t profiles) const {
  if (small_) return static_cast<std::uint32_t>(std::popcount(free_word_ & words_[profiles]));
  std::uint32_t total = 0;
  for (std::uint32_t left = profiles & free_profiles_; left != 0; left &= left - 1) {
    total += free_[static_cast<std::size_t>(std::countr_zero(left))].count();
  }
  return total;
}

std::uint32_t FreeSlices::nth(std::uint16_t profiles, std::uint32_t index) const {
  if (small_) {
    std::uint64_t word = free_word_ & words_[profiles];
    for (; index > 0; --index) word &= word - 1;
    return static_cast<std::uint32_t>(std::countr_zero(word));
  }
  for (std::uint32_t rank = 0; rank < slices_.size(); ++rank) {
    const mig::ProfileIndex profile = slices_[rank].profile;
    if ((profiles >> profile & 1U) == 0 || !free_[profile].contains(rank)) continue;
    if (index-- == 0) return rank;
  }
  return kNone;
}

}  // namespace partita::policies
