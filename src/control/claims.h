// Claims: by job, the slice it gets when all who must be stopped have been.
//
// Policies count such a job as there already. Claims are not written down: after a crash those who
// are being stopped wait again when they have been, the others wait, and policies decide anew.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "base/job_number.h"
#include "cluster/cluster_state.h"

namespace partita::control {

class Claims {
 public:
  const std::map<JobNumber, cluster::SliceId>& all() const { return slices_; }
  bool has(JobNumber job) const { return slices_.contains(job); }
  std::optional<cluster::SliceId> of(JobNumber job) const {
    const auto found = slices_.find(job);
    if (found == slices_.end()) return {};
    return found->second;
  }
  // The job that the slice is kept for, if it is.
  std::optional<JobNumber> claimant(cluster::SliceId slice) const {
    const auto found =
        std::ranges::find_if(slices_, [&](const auto& claim) { return claim.second == slice; });
    if (found == slices_.end()) return {};
    return found->first;
  }
  void set(JobNumber job, cluster::SliceId slice) { slices_[job] = slice; }
  void erase(JobNumber job) { slices_.erase(job); }

 private:
  std::map<JobNumber, cluster::SliceId> slices_;
};

}  // namespace partita::control
