// SliceObservation: what the technical report's placement sees: the next job, histograms of the
// queue, and every slice with its size and whether it is busy.
//
// Published is the version its notebooks call ENHANCED: 5 numbers of the next job, four histograms
// of ten, two numbers a slice, three more. How the histograms are scaled is not published; here
// they are shares of the waiting jobs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decide/view.h"
#include "policies/learned/time_bins.h"

namespace partita::policies {

using cluster::JobHandle;
using cluster::SliceId;

constexpr std::size_t slice_observation_size(std::size_t slices) {
  return 5 + 40 + 2 * slices + 3;
}

class SliceObservation {
 public:
  // The slices that exist and do not close, GPU by GPU. Linear in the fleet.
  void rebuild(const cluster::ClusterState& cluster);
  std::span<const SliceId> slices() const { return slices_; }
  // Their compute slices: "7,7,4,3".
  static std::string sizes_text(const cluster::ClusterState& cluster);

  // Jobs that come to wait and that wait no more. Constant time.
  void enter(const decide::ActiveJob& job) { count(job, 1); }
  void leave(const decide::ActiveJob& job) { count(job, -1); }
  void clear() { lengths_ = {}; }

  // A decision begins; and a slice is given away in it, which the cluster does not know yet.
  void begin_decision() { std::ranges::fill(taken_, std::uint8_t{0}); }
  void take(std::size_t index) { taken_[index] = 1; }

  // Profiles of the first `width` slices of which one is free, bit i for profile i.
  std::uint16_t free_profiles(const decide::View& view, std::size_t width) const;
  // Which slices the job may have: those that are free and fit it.
  void mark_allowed(const decide::View& view, const decide::ActiveJob& job,
                    std::span<std::uint8_t> allowed) const;
  // REQUIRES of `out`: slice_observation_size(width) numbers; slices beyond `width` are not shown,
  // and missing ones are shown as busy. Linear in the waiting jobs and the slices.
  void write(const decide::View& view, std::span<const JobHandle> waiting,
             const decide::ActiveJob& next, std::size_t width, std::span<float> out) const;

 private:
  static constexpr std::size_t kLengths = 3;

  void count(const decide::ActiveJob& job, int by);
  void write_slices(const decide::View& view, std::size_t width, std::span<float> out) const;
  bool open(const cluster::ClusterState& cluster, std::size_t index) const {
    return taken_[index] == 0 && cluster.slice(slices_[index]).open();
  }

  std::vector<SliceId> slices_;
  std::vector<std::uint8_t> taken_;  // in this decision, by index
  // How many waiting jobs have their time on small, medium and large slices in each bin.
  std::array<std::array<std::int32_t, kBins>, kLengths> lengths_{};
};

}  // namespace partita::policies
