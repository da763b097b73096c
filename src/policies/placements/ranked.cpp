#include "policies/placements/ranked.h"

#include <limits>
#include <tuple>

namespace partita::policies {

std::array<std::uint16_t, workload::kSliceSizeCount> profiles_by_size(const mig::GpuModel& model) {
  std::array<std::uint16_t, workload::kSliceSizeCount> masks{};
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const auto size = workload::slice_size_index(model.profiles[i].compute_slices);
    if (size) masks[*size] = static_cast<std::uint16_t>(masks[*size] | (1U << i));
  }
  return masks;
}

void RankedRule::rebuild(const decide::View& view) {
  free_.rebuild(view, traits_.before);
  profiles_of_size_ = profiles_by_size(*view.cluster.model);
}

SliceId RankedRule::take(std::uint32_t rank) {
  if (rank == FreeSlices::kNone) return {};
  free_.take(rank);
  return free_.at(rank).slice;
}

SliceId RankedRule::claim(const Candidate& candidate) {
  const std::uint16_t fits = candidate.job.fits;
  if (traits_.on_time_first) {
    const auto on_time = on_time_profiles(candidate, profiles_of_size_);
    const std::uint32_t rank = free_.first(static_cast<std::uint16_t>(on_time & fits));
    if (rank != FreeSlices::kNone) return take(rank);
  }
  if (traits_.otherwise == RankedRuleTraits::Otherwise::kFirst) return take(free_.first(fits));
  return take(earliest_finish(candidate, fits));
}

std::uint32_t RankedRule::earliest_finish(const Candidate& candidate, std::uint16_t fits) const {
  std::uint32_t best_rank = FreeSlices::kNone;
  double best_time = std::numeric_limits<double>::infinity();
  for (std::size_t size = 0; size < workload::kSliceSizeCount; ++size) {
    const double time = candidate.job.time[size];
    if (time > best_time) continue;
    const std::uint32_t rank =
        free_.first(static_cast<std::uint16_t>(profiles_of_size_[size] & fits));
    if (rank == FreeSlices::kNone || (time == best_time && rank > best_rank)) continue;
    best_rank = rank;
    best_time = time;
  }
  return best_rank;
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
