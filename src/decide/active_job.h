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

// The first 64 bytes are all that a placement reads: one cache line.
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
  Micros restart;      // overhead before the next piece makes progress
  Micros first_start;  // once started
  std::uint32_t preemptions = 0;
  std::uint16_t fits = 0;  // profiles that can run it, bit i for profile i
  workload::ClassIndex job_class = 0;
  std::uint8_t size_index = 0;  // running: of its slice
  bool started = false;

  bool running() const { return slice.valid(); }

  // Fraction of the work left at `now`.
  double work_at(Micros now) const {
    if (!running() || now <= progress_from) return work;
    const double done = static_cast<double>((now - progress_from).count) / time[size_index];
    return std::max(0.0, work - done);
  }

  // The shortest time for the whole job over the sizes it may use.
  double fastest_time() const { return *std::min_element(time.begin(), time.end()); }
};

// The jobs in the system; handles of completed jobs are used again, so the table is as large as the
// largest number of jobs present at once.
class ActiveJobs {
 public:
  JobHandle add(const ActiveJob& job);
  void remove(JobHandle handle);

  ActiveJob& operator[](JobHandle handle) { return jobs_[handle.value]; }
  const ActiveJob& operator[](JobHandle handle) const { return jobs_[handle.value]; }
  std::size_t size() const { return jobs_.size() - free_.size(); }

  // Some job that is present, by the lowest handle; not valid when there is none. Linear.
  JobHandle any() const;

 private:
  std::vector<ActiveJob> jobs_;
  std::vector<JobHandle> free_;
};

ActiveJob make_active(const workload::Job& job, JobId id, std::uint16_t fits);

}  // namespace partita::decide
