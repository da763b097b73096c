// FreeSlices: the free slices of a fleet in one fixed order of preference, found by profile.
//
// A claim is: of these profiles, the first free slice in the order. With up to 64 slices that is
// one table look-up and one bit scan; with more, a RankSet for each profile makes it a few steps
// whatever the size of the fleet.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/rank_set.h"
#include "decide/view.h"

namespace partita::policies {

using cluster::SliceId;

// What an order of preference may compare.
struct RankedSlice {
  SliceId slice;
  std::uint32_t gpu = 0;
  std::uint8_t start = 0;
  mig::ProfileIndex profile = 0;
  std::uint8_t size_index = 0;
  int compute_slices = 0;
  double memory_gib = 0;
  double gpu_mean_size = 0;  // compute slices per instance of its GPU
};

// True when the first slice is preferred to the second; a strict weak order. Ties go to the lower
// GPU, then the lower start.
using SlicePreference = std::function<bool(const RankedSlice&, const RankedSlice&)>;

// The slices that exist and do not close, GPU by GPU.
std::vector<RankedSlice> usable_slices(const cluster::ClusterState& cluster);

class FreeSlices {
 public:
  static constexpr std::uint32_t kNone = RankSet::kNone;

  // Ranks the slices that exist and do not close; free are the idle ones. Linearithmic.
  void rebuild(const decide::View& view, const SlicePreference& before);
  // Constant time up to 64 slices, else linear.
  void free_all();

  // A slice that is not ranked (it closes) is ignored.
  void release(SliceId slice) {
    const std::uint32_t rank = rank_of_[slice.value];
    if (rank != kNone) add(rank);
  }
  void take(std::uint32_t rank) {
    const mig::ProfileIndex profile = slices_[rank].profile;
    bool left = false;
    if (small_) {
      free_word_ &= ~(std::uint64_t{1} << rank);
      left = (free_word_ & words_[std::size_t{1} << profile]) != 0;
    } else {
      free_[profile].remove(rank);
      left = !free_[profile].empty();
    }
    if (!left) free_profiles_ = static_cast<std::uint16_t>(free_profiles_ & ~(1U << profile));
  }

  // The first free rank among the profiles of the mask, or kNone.
  std::uint32_t first(std::uint16_t profiles) const {
    if (!small_) return first_of_many(profiles);
    const std::uint64_t word = free_word_ & words_[profiles];
    return word == 0 ? kNone : static_cast<std::uint32_t>(std::countr_zero(word));
  }

  // How many slices of the mask are free, and the one with `index` preferred ones. Linear.
  std::uint32_t count(std::uint16_t profiles) const;
  std::uint32_t nth(std::uint16_t profiles, std::uint32_t index) const;

  // Whether all fits in words, and what a round over such a fleet needs: the ranks of the slices of
  // a mask of profiles as bits, all ranks, and the slice of each rank.
  bool small() const { return small_; }
  const std::uint64_t* words() const { return words_.data(); }
  const std::array<std::uint64_t, workload::kSliceSizeCount>& size_words() const {
    return size_words_;
  }
  std::uint64_t all_word() const { return all_word_; }
  const SliceId* slice_ids() const { return ids_.data(); }

  const RankedSlice& at(std::uint32_t rank) const { return slices_[rank]; }
  std::uint32_t rank_of(SliceId slice) const { return rank_of_[slice.value]; }
  std::uint16_t free_profiles() const { return free_profiles_; }

 private:
  static constexpr std::size_t kSmallSlicesMax = 64;
  static constexpr std::size_t kSmallProfilesMax = 8;

  std::uint32_t first_of_many(std::uint16_t profiles) const;
  void add(std::uint32_t rank);
  void index_small(std::size_t profile_count);

  std::vector<RankedSlice> slices_;     // by rank
  std::vector<SliceId> ids_;            // by rank
  std::vector<std::uint32_t> rank_of_;  // by slice; kNone where no slice is ranked
  std::uint16_t free_profiles_ = 0;
  std::uint16_t all_profiles_ = 0;
  bool small_ = true;
  std::vector<std::uint64_t> words_;  // small: by mask of profiles, the ranks of all of them
  std::array<std::uint64_t, workload::kSliceSizeCount> size_words_{};  // small: ranks of each size
  std::uint64_t free_word_ = 0;
  std::uint64_t all_word_ = 0;
  std::vector<RankSet> free_;  // large: by profile
};

}  // namespace partita::policies
