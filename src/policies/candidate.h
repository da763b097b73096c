// Candidate: one job that wants a slice now, with the arithmetic every order and placement needs.
#pragma once

#include "decide/active_job.h"

namespace partita::policies {

using cluster::JobHandle;
using cluster::SliceId;

class Candidate {
 public:
  Candidate(const decide::ActiveJob& active, Micros at) : job(active), now(at) {}

  const decide::ActiveJob& job;
  Micros now;

  double work() const { return job.work_at(now); }  // fraction left
  double remaining(std::size_t size_index) const { return work() * job.time[size_index]; }
  double fastest_remaining() const { return work() * job.fastest_time(); }
  // Microseconds until the deadline, less the overhead of a restart.
  double slack() const {
    return static_cast<double>((job.deadline - now - job.overhead(now)).count);
  }
  // Bit i for size index i.
  unsigned on_time_sizes() const { return job.on_time_sizes(now); }
  bool on_time(std::size_t size_index) const { return (on_time_sizes() >> size_index & 1U) != 0; }
};

}  // namespace partita::policies
