// WaitingLanes: the jobs that wait, by how long they do, those of one user that fit the same
// profiles in one list.
#pragma once

#include <cstdint>
#include <vector>

#include "decide/usage_books.h"

namespace partita::decide {

class WaitingLanes {
 public:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  static constexpr std::uint64_t kNever = static_cast<std::uint64_t>(-1);

  struct Lane {
    UsageBooks::Group group = 0;
    std::uint16_t fits = 0;
    std::uint32_t first = kNone;  // handles
    std::uint32_t last = kNone;
    // For who looks through it: no job of the lane is due early before this, and a version of what
    // it looked at at which there was no place for such a job.
    Micros look_at = Micros::max();
    std::uint64_t no_place = kNever;
  };

  // `books` tells users apart; null: there is one. REQUIRES: it outlives this.
  explicit WaitingLanes(UsageBooks* books) : books_(books) {}

  void clear();
  // The job waits from now on; one that never started, since it came. Gives its lane.
  Lane& add(const View& view, JobHandle job);
  // It is in no lane any more, and not set aside.
  void remove(JobHandle job);
  // It waits still, but is not listed until it is put back.
  void set_aside(JobHandle job);
  void put_back(JobHandle job);

  bool waits(JobHandle job) const {
    return job.value < entries_.size() && entries_[job.value].lane != kNone;
  }
  bool is_aside(JobHandle job) const { return waits(job) && entries_[job.value].aside; }
  Micros since(JobHandle job) const { return entries_[job.value].since; }
  JobId id(JobHandle job) const { return entries_[job.value].job; }
  // The next in its lane; kNone at the end.
  std::uint32_t next(JobHandle job) const { return entries_[job.value].next; }

  std::vector<Lane>& lanes() { return lanes_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  Lane& lane_of(JobHandle job) { return lanes_[entries_[job.value].lane]; }

  // By user, then by how long they wait.
  bool goes_first(JobHandle first, JobHandle second, Micros now) const;
  // A user above their share must not get by reservations what the order does not give them, as
  // long as others wait.
  bool may_go(const Lane& lane, Micros now) const;

 private:
  struct Entry {
    JobId job;
    Micros since;
    std::uint32_t lane = kNone;  // kNone: it does not wait
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    bool aside = false;
  };

  Lane& find_lane(const View& view, JobHandle job);
  void list(JobHandle job);
  void unlist(JobHandle job);

  UsageBooks* books_;
  std::vector<Entry> entries_;  // by handle
  std::vector<Lane> lanes_;
};

}  // namespace partita::decide
