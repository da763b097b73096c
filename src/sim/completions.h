// Completions: when each running job will be done, the earliest first.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cluster/cluster_state.h"

namespace partita::sim {

using cluster::JobHandle;

// An indexed heap with four children a node: three levels hold 80 jobs, nine hold 80,000. Jobs that
// complete at one instant come in an order of the heap's own: always the same, and without effect,
// because all of them are done before anything is decided.
class Completions {
 public:
  bool empty() const { return heap_.empty(); }
  Micros first_time() const { return heap_.empty() ? Micros::max() : heap_[0].time; }
  JobHandle first_job() const { return heap_[0].job; }

  // REQUIRES: the job is not in.
  void add(JobHandle job, Micros time);
  // REQUIRES of both: the job is in.
  void change(JobHandle job, Micros time) { settle(position_[job.value], {time, job}); }
  void remove(JobHandle job) { erase_at(position_[job.value]); }
  void remove_first() { erase_at(0); }
  void clear() { heap_.clear(); }

 private:
  static constexpr std::uint32_t kChildren = 4;

  struct Entry {
    Micros time;
    JobHandle job;

    bool before(const Entry& other) const { return time < other.time; }
  };

  void erase_at(std::uint32_t at);
  void put(std::uint32_t at, const Entry& entry) {
    heap_[at] = entry;
    position_[entry.job.value] = at;
  }
  // Puts an entry where it belongs, beginning at a place that is free for it.
  void settle(std::uint32_t at, const Entry& entry);
  void rise(std::uint32_t at, const Entry& entry);
  void sink(std::uint32_t at, const Entry& entry);

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;  // by handle; means nothing for jobs that are not in
};

}  // namespace partita::sim
