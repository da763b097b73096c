// JobPool: jobs in no order; adding and removing one takes constant time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "cluster/cluster_state.h"

namespace partita::policies {

class JobPool {
 public:
  const std::vector<cluster::JobHandle>& jobs() const { return jobs_; }
  bool empty() const { return jobs_.empty(); }
  void clear() { jobs_.clear(); }

  void add(cluster::JobHandle job) {
    if (job.value >= place_.size()) place_.resize(std::size_t{job.value} * 2 + 16, 0);
    place_[job.value] = static_cast<std::uint32_t>(jobs_.size());
    jobs_.push_back(job);
  }
  // REQUIRES: it is there.
  void remove(cluster::JobHandle job) {
    const std::uint32_t at = place_[job.value];
    CHECK(jobs_[at] == job);
    jobs_[at] = jobs_.back();
    place_[jobs_[at].value] = at;
    jobs_.pop_back();
  }

 private:
  std::vector<cluster::JobHandle> jobs_;
  std::vector<std::uint32_t> place_;  // by handle
};

}  // namespace partita::policies
