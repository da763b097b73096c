// RankedRule: placements that go down a fixed list of the slices and take the first that will do.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "policies/schedulers/free_slices.h"
#include "policies/schedulers/profiles_by_size.h"
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

class RankedRule final : public SliceRule {
 public:
  explicit RankedRule(RankedRuleTraits traits) : traits_(std::move(traits)) {}

  void rebuild(const decide::View& view) override;
  void free_all() override { free_.free_all(); }
  void release(SliceId slice) override { free_.release(slice); }
  void occupy(SliceId slice) override { free_.take(free_.rank_of(slice)); }
  SliceId claim(const Candidate& candidate) override;
  std::uint16_t free_profiles() const override { return free_.free_profiles(); }

  // Whether SmallRound serves it.
  bool small() const { return free_.small(); }

 private:
  friend class SmallRound;

  SliceId take(std::uint32_t rank);
  std::uint32_t earliest_finish(const Candidate& candidate) const;
  std::uint32_t earliest_finish_by_search(const Candidate& candidate, std::uint16_t open) const;

  RankedRuleTraits traits_;
  FreeSlices free_;
  ProfilesBySize profiles_;
  const mig::GpuModel* profiles_of_ = nullptr;  // a model does not change
};

// SmallRound: one preemptive round of a RankedRule over at most 64 slices, all of them free at
// first.
//
// It claims what the rule would, but keeps the free slices in one word of its own, which stays in a
// register: a preemptive run claims a slice for every job at every event.
class SmallRound {
 public:
  explicit SmallRound(const RankedRule& rule)
      : rule_(&rule),
        words_(rule.free_.words()),
        ids_(rule.free_.slice_ids()),
        free_(rule.free_.all_word()) {}

  bool any_free(std::uint16_t fits) const { return (free_ & words_[fits]) != 0; }

  SliceId claim(const Candidate& candidate) {
    std::uint64_t choice = 0;
    if (rule_->traits_.on_time_first) choice = free_ & words_[rule_->profiles_.on_time(candidate)];
    if (choice == 0) choice = otherwise(candidate);
    if (choice == 0) return {};
    free_ &= ~(choice & (0 - choice));
    return ids_[std::countr_zero(choice)];
  }

 private:
  // The ranks to choose the first of when the job is on time on none.
  std::uint64_t otherwise(const Candidate& candidate) const {
    const std::uint16_t fits = candidate.job.fits;
    const std::uint64_t open = free_ & words_[fits];
    if (rule_->traits_.otherwise == RankedRuleTraits::Otherwise::kFirst) return open;
    if (!candidate.job.larger_is_faster) {
      return earliest_by_search(candidate.job, free_, words_, rule_->profiles_);
    }
    const auto& size_words = rule_->free_.size_words();
    for (std::size_t size = workload::kSliceSizeCount; size-- > 0;) {
      const std::uint64_t ranks = open & size_words[size];
      if (ranks != 0) return ranks;
    }
    return 0;
  }
  // Static, with all it needs handed over: a call that saw this object would force it into memory.
  static std::uint64_t earliest_by_search(const decide::ActiveJob& job, std::uint64_t free,
                                          const std::uint64_t* words,
                                          const ProfilesBySize& profiles);

  const RankedRule* rule_;
  const std::uint64_t* words_;
  const SliceId* ids_;
  std::uint64_t free_;
};

// The lists. Inside one size, slices with less memory come first: a job that fits there leaves the
// larger memory to one that does not.
bool smaller_first(const RankedSlice& a, const RankedSlice& b);
bool larger_first(const RankedSlice& a, const RankedSlice& b);
bool lower_gpu_first(const RankedSlice& a, const RankedSlice& b);
// GPUs by mean slice size, largest first (CEDF); inside a GPU smaller slices first.
bool wide_gpus_first(const RankedSlice& a, const RankedSlice& b);
// GPUs by number; inside a GPU smaller slices first.
bool lower_gpu_smaller_first(const RankedSlice& a, const RankedSlice& b);

inline SliceId RankedRule::take(std::uint32_t rank) {
  if (rank == FreeSlices::kNone) return {};
  free_.take(rank);
  return free_.at(rank).slice;
}

inline SliceId RankedRule::claim(const Candidate& candidate) {
  if (traits_.on_time_first) {
    const std::uint32_t rank = free_.first(profiles_.on_time(candidate));
    if (rank != FreeSlices::kNone) return take(rank);
  }
  if (traits_.otherwise == RankedRuleTraits::Otherwise::kFirst) {
    return take(free_.first(candidate.job.fits));
  }
  return take(earliest_finish(candidate));
}

inline std::uint32_t RankedRule::earliest_finish(const Candidate& candidate) const {
  const std::uint16_t open = static_cast<std::uint16_t>(free_.free_profiles() & candidate.job.fits);
  if (open == 0) return FreeSlices::kNone;
  if (candidate.job.larger_is_faster) {
    const auto fastest = static_cast<std::size_t>(std::bit_width(profiles_.sizes_of(open)) - 1);
    return free_.first(profiles_.of_size(fastest) & open);
  }
  return earliest_finish_by_search(candidate, open);
}

inline std::uint32_t RankedRule::earliest_finish_by_search(const Candidate& candidate,
                                                           std::uint16_t open) const {
  std::uint32_t best_rank = FreeSlices::kNone;
  double best_time = std::numeric_limits<double>::infinity();
  for (std::size_t size = 0; size < workload::kSliceSizeCount; ++size) {
    const std::uint16_t wanted = profiles_.of_size(size) & open;
    const double time = candidate.job.time[size];
    if (wanted == 0 || time > best_time) continue;
    const std::uint32_t rank = free_.first(wanted);
    if (time == best_time && rank > best_rank) continue;
    best_rank = rank;
    best_time = time;
  }
  return best_rank;
}

}  // namespace partita::policies
