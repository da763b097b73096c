// ActiveJob: a job between its arrival and its completion, as a policy sees it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cluster/cluster_state.h"
#include "workload/job.h"

namespace partita::decide {

using cluster::JobHandle;
using cluster::SliceId;

// One job in two cache lines: what placing it at every event reads stands in the second.
struct alignas(64) ActiveJob {
  double work = 1;       // fraction left at `progress_from` (running) or now (waiting)
  Micros progress_from;  // running: since when the fraction falls
  Micros deadline;
  // Microseconds for the whole job by slice size; infinity where it may not run.
  std::array<double, workload::kSliceSizeCount> time{};

  SliceId slice;  // where it runs; not valid while it waits
  JobId id;
  Micros finish;  // running: when it will complete if left alone
  Micros arrival;
  Micros restart;      // overhead before the next piece makes progress; see overhead()
  Micros first_start;  // once started
  // A cache of on_time_sizes(): the answer, and the first instant it no longer stands for. Whoever
  // changes pace, restart or deadline calls forget_on_time().
  mutable Micros on_time_until = Micros{-1};
  std::uint32_t preemptions = 0;
  float memory_gib = 0;
  std::uint16_t fits = 0;  // profiles that can run it, bit i for profile i
  workload::ClassIndex job_class = 0;
  std::uint8_t size_index = 0;  // running: of its slice
  mutable std::uint8_t on_time_bits = 0;
  bool started : 1 = false;
  bool larger_is_faster : 1 = false;  // strictly, over all sizes
  bool resumable : 1 = true;          // keeps its progress when it is interrupted

  bool running() const { return slice.valid(); }
  // No job, but what keeps a slice from being used: somebody else has it, or its GPU is out of use.
  bool endless() const { return running() && finish == Micros::max(); }

  // What it would have to pay before making progress elsewhere. A job that runs has paid, except
  // during a restart that has to be paid again if it is interrupted.
  Micros overhead(Micros now) const {
    return running() && now >= progress_from ? Micros{} : restart;
  }

  // Fraction of the work left at `now`.
  double work_at(Micros now) const {
    if (!running() || now <= progress_from) return work;
    const double done = static_cast<double>((now - progress_from).count) / time[size_index];
    return std::max(0.0, work - done);
  }

  // The sizes, bit i for kSliceSizes[i], on which the job would complete by its deadline if it
  // began (or went on) there now. Exactly "completion rounded up to a microsecond <= deadline".
  std::uint8_t on_time_sizes(Micros now) const {
    if (now >= on_time_until) find_on_time_sizes(now);
    return on_time_bits;
  }
  // A job that is late on every size stays so whatever happens to it, and that is not forgotten.
  void forget_on_time() {
    if (on_time_until != Micros::max()) on_time_until = Micros{-1};
  }

  // The shortest time for the whole job over the sizes it may use.
  double fastest_time() const { return *std::min_element(time.begin(), time.end()); }

 private:
  void find_on_time_sizes(Micros now) const;
};
static_assert(sizeof(ActiveJob) == 128);

// A job that has just arrived.
void fill_active(ActiveJob& active, const workload::Job& job, JobId id, std::uint16_t fits);
inline ActiveJob make_active(const workload::Job& job, JobId id, std::uint16_t fits) {
  ActiveJob active;
  fill_active(active, job, id, fits);
  return active;
}

// The jobs in the system; handles of completed jobs are used again, so the table is as large as the
// largest number of jobs present at once.
class ActiveJobs {
 public:
  // A job that has just arrived, written where it will stand.
  JobHandle add(const workload::Job& job, JobId id, std::uint16_t fits) {
    const JobHandle handle = free_handle();
    fill_active(jobs_[handle.value], job, id, fits);
    return handle;
  }
  JobHandle add(const ActiveJob& job) {
    const JobHandle handle = free_handle();
    jobs_[handle.value] = job;
    return handle;
  }
  void remove(JobHandle handle);
  void clear() {
    jobs_.clear();
    free_.clear();
  }

  ActiveJob& operator[](JobHandle handle) { return jobs_[handle.value]; }
  const ActiveJob& operator[](JobHandle handle) const { return jobs_[handle.value]; }
  std::size_t size() const { return jobs_.size() - free_.size(); }

  // Handles of all jobs present are below this; those whose job has no valid id are not in use.
  std::uint32_t handles_end() const { return static_cast<std::uint32_t>(jobs_.size()); }
  bool present(JobHandle handle) const { return jobs_[handle.value].id.valid(); }

 private:
  JobHandle free_handle();

  std::vector<ActiveJob> jobs_;
  std::vector<JobHandle> free_;
};

}  // namespace partita::decide
