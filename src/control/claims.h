// Claims: by job, the slice it gets when all who must be stopped have been.
//
// Policies count such a job as there already. Claims are not written down: after a crash those who
// are being stopped wait again when they have been, the others wait, and policies decide anew.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "cluster/cluster_state.h"

namespace partita::control {

class Claims {
 public:
  const std::map<std::int64_t, cluster::SliceId>& all() const { return slices_; }
  bool has(std::int64_t job) const { return slices_.contains(job); }
  std::optional<cluster::SliceId> of(std::int64_t job) const {
    const auto found = slices_.find(job);
    if (found == slices_.end()) return {};
    return found->second;
  }
  // The job that the slice is kept for, if it is.
  std::optional<std::int64_t> claimant(cluster::SliceId slice) const {
    const auto found =
        std::ranges::find_if(slices_, [&](const auto& claim) { return claim.second == slice; });
    if (found == slices_.end()) return {};
    return found->first;
  }
  void set(std::int64_t job, cluster::SliceId slice) { slices_[job] = slice; }
  void erase(std::int64_t job) { slices_.erase(job); }

 private:
  std::map<std::int64_t, cluster::SliceId> slices_;
};

}  // namespace partita::control
