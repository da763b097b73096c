// ByOccupancy: free slices grouped by how busy their GPU is, for placements that look at it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policies/schedulers/free_slices.h"
#include "policies/schedulers/profiles_by_size.h"
#include "policies/slice_rule.h"

namespace partita::policies {

// Base of the placements that compare GPUs by their claimed compute slices. Each level of occupancy
// has its own FreeSlices-like sets; a claim or a release moves the GPU's free slices to another
// level, so it costs a few steps for each slice of that one GPU.
class ByOccupancy : public SliceRule {
 public:
  void rebuild(const decide::View& view) override;
  void free_all() override;
  void release(SliceId slice) override;
  void occupy(SliceId slice) override { take(rank_of_[slice.value]); }
  std::uint16_t free_profiles() const override;

 protected:
  static constexpr std::size_t kLevels = mig::kComputeSlicesMax + 1;

  // The first free slice, GPUs by number and smaller slices first, on GPUs with `level` claimed
  // compute slices; kNone when there is none.
  std::uint32_t first(std::size_t level, std::uint16_t profiles) const;
  std::uint16_t free_profiles(std::size_t level) const { return levels_[level].profiles; }
  const RankedSlice& at(std::uint32_t rank) const { return slices_[rank]; }
  SliceId take(std::uint32_t rank);

  ProfilesBySize profiles_;

 private:
  struct Level {
    std::vector<RankSet> free;  // by profile
    std::vector<std::uint32_t> counts;
    std::uint16_t profiles = 0;
  };
  struct GpuSlices {
    std::uint32_t first_rank = 0;
    std::uint32_t count = 0;
    std::uint8_t claimed = 0;  // compute slices
  };

  void put(std::uint32_t rank, std::size_t level);
  void pull(std::uint32_t rank, std::size_t level);
  void change_occupancy(GpuSlices& gpu, int by);

  std::vector<RankedSlice> slices_;       // by rank: GPU by GPU
  std::vector<char> is_free_;             // by rank
  std::vector<std::uint32_t> rank_of_;    // by slice
  std::vector<std::uint8_t> compute_of_;  // by slice, also of those that close
  std::vector<GpuSlices> gpus_;
  std::array<Level, kLevels> levels_;
};

}  // namespace partita::policies
