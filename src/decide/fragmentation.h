// Fragmentation: queued work that fits nowhere although enough slices are idle.
//
// The slices stand in the wrong pieces: in layouts with other instances, or scattered over GPUs
// whose rest is busy. docs/concepts/model.md has the definition. Work is counted in whole
// microseconds, so that sums up to 2^53 of them do not depend on the order in which jobs come and
// go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decide/view.h"

namespace partita::decide {

// At one instant.
struct Fragmentation {
  double queued_us = 0;   // work of all jobs that wait, each on its fastest size
  double blocked_us = 0;  // of those that fit no open instance, with enough slices idle

  double ratio() const { return queued_us > 0 ? blocked_us / queued_us : 0; }
};

// The work that waits, kept up to date job by job. Asking costs one look at every instance,
// however long the queue.
class QueuedWork {
 public:
  explicit QueuedWork(const mig::GpuModel& model) : model_(model) {}

  // The job waits, with the work that its record says. REQUIRES: it fits at least one profile.
  void enter(JobHandle handle, const ActiveJob& job);
  // REQUIRES: it entered, and has not left since.
  void leave(JobHandle handle);

  Fragmentation measure(const cluster::ClusterState& cluster) const;

 private:
  // Jobs that fit the same profiles.
  struct Group {
    std::uint16_t fits = 0;
    int slices = 0;  // compute slices of the smallest of them
    std::size_t jobs = 0;
    double work_us = 0;
  };
  struct Entry {
    std::size_t group = 0;
    double work_us = 0;
  };

  std::size_t group_of(std::uint16_t fits);

  const mig::GpuModel& model_;
  std::vector<Group> groups_;   // in order of appearance
  std::vector<Entry> entries_;  // by handle
  std::size_t jobs_ = 0;
};

// Of all that waits now. Costs one pass over the jobs.
Fragmentation fragmentation(const View& view);

}  // namespace partita::decide
