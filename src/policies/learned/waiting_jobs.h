// WaitingJobs: the jobs a scheduler has not placed, in no order, added and removed in constant
// time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "decide/view.h"

namespace partita::policies {

using cluster::JobHandle;

class WaitingJobs {
 public:
  void clear() { jobs_.clear(); }
  bool empty() const { return jobs_.empty(); }
  std::span<const JobHandle> all() const { return jobs_; }

  void add(JobHandle job) {
    if (job.value >= index_.size()) index_.resize(std::size_t{job.value} * 2 + 16, 0);
    index_[job.value] = static_cast<std::uint32_t>(jobs_.size());
    jobs_.push_back(job);
  }
  // REQUIRES: the job is there.
  void remove(JobHandle job) {
    const std::uint32_t at = index_[job.value];
    CHECK(jobs_[at] == job);
    jobs_[at] = jobs_.back();
    index_[jobs_[at].value] = at;
    jobs_.pop_back();
  }

 private:
  std::vector<JobHandle> jobs_;
  std::vector<std::uint32_t> index_;  // by handle
};

}  // namespace partita::policies
