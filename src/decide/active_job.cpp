#include "decide/active_job.h"

#include <limits>

namespace partita::decide {

JobHandle ActiveJobs::add(const ActiveJob& job) {
  if (free_.empty()) {
    jobs_.push_back(job);
    return {static_cast<std::uint32_t>(jobs_.size() - 1)};
  }
  const JobHandle handle = free_.back();
  free_.pop_back();
  jobs_[handle.value] = job;
  return handle;
}

void ActiveJobs::remove(JobHandle handle) {
  free_.push_back(handle);
}

JobHandle ActiveJobs::any() const {
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    if (std::find(free_.begin(), free_.end(), JobHandle{i}) == free_.end()) return {i};
  }
  return {};
}

ActiveJob make_active(const workload::Job& job, JobId id, std::uint16_t fits) {
  ActiveJob active;
  active.deadline = job.deadline;
  for (std::size_t i = 0; i < active.time.size(); ++i) {
    active.time[i] = job.time[i] == workload::kNoTime ? std::numeric_limits<double>::infinity()
                                                      : static_cast<double>(job.time[i].count);
  }
  active.id = id;
  active.arrival = job.arrival;
  active.fits = fits;
  active.job_class = job.job_class;
  return active;
}

}  // namespace partita::decide
