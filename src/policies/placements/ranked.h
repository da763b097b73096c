// RankedRule: placements that go down a fixed list of the slices and take the first that will do.
#pragma once

#include <array>
#include <cstdint>

#include "policies/free_slices.h"
#include "policies/slice_rule.h"

namespace partita::policies {

// What RankedRule needs to know of a placement.
struct RankedRuleTraits {
  SlicePreference before;
  bool on_time_first = false;  // first look only at slices on which the job is on time
  enum class Otherwise : std::uint8_t {
    kFirst,           // the first free slice of the list
    kEarliestFinish,  // the one on which this job finishes first; ties: the first of the list
  } otherwise = Otherwise::kFirst;
};

class RankedRule : public SliceRule {
 public:
  explicit RankedRule(RankedRuleTraits traits) : traits_(std::move(traits)) {}

  void rebuild(const decide::View& view) override;
  void free_all() override { free_.free_all(); }
  void release(SliceId slice) override { free_.release(slice); }
  SliceId claim(const Candidate& candidate) override;
  std::uint16_t free_profiles() const override { return free_.free_profiles(); }

 private:
  SliceId take(std::uint32_t rank);
  std::uint32_t earliest_finish(const Candidate& candidate, std::uint16_t fits) const;

  RankedRuleTraits traits_;
  FreeSlices free_;
  std::array<std::uint16_t, workload::kSliceSizeCount> profiles_of_size_{};
};

// Profiles by the size of their slices: for each size a mask of profiles.
std::array<std::uint16_t, workload::kSliceSizeCount> profiles_by_size(const mig::GpuModel& model);

// The profiles on which the job would complete by its deadline if it began now.
inline std::uint16_t on_time_profiles(
    const Candidate& candidate,
    const std::array<std::uint16_t, workload::kSliceSizeCount>& profiles_of_size) {
  unsigned mask = 0;
  for (std::size_t size = 0; size < workload::kSliceSizeCount; ++size) {
    mask |= candidate.on_time(size) ? profiles_of_size[size] : 0U;
  }
  return static_cast<std::uint16_t>(mask);
}

// The lists. Inside one size, slices with less memory come first: a job that fits there leaves the
// larger memory to one that does not.
bool smaller_first(const RankedSlice& a, const RankedSlice& b);
bool larger_first(const RankedSlice& a, const RankedSlice& b);
bool lower_gpu_first(const RankedSlice& a, const RankedSlice& b);
// GPUs by mean slice size, largest first (CEDF); inside a GPU smaller slices first.
bool wide_gpus_first(const RankedSlice& a, const RankedSlice& b);
// GPUs by number; inside a GPU smaller slices first.
bool lower_gpu_smaller_first(const RankedSlice& a, const RankedSlice& b);

}  // namespace partita::policies
