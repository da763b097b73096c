// Candidate: one job that wants a slice now, with the arithmetic every order and placement needs.
#pragma once

#include "decide/active_job.h"

namespace partita::policies {

using cluster::JobHandle;
using cluster::SliceId;

struct Candidate {
  const decide::ActiveJob& job;
  Micros now;
  double work;      // fraction left
  double overhead;  // microseconds of restart before it makes progress
  double slack;     // microseconds until the deadline, less the overhead

  Candidate(const decide::ActiveJob& active, Micros at, Micros restart)
      : job(active),
        now(at),
        work(active.work_at(at)),
        overhead(static_cast<double>(restart.count)),
        slack(static_cast<double>((active.deadline - at - restart).count)) {}

  Candidate(const decide::ActiveJob& active, Micros at) : Candidate(active, at, active.restart) {}

  double remaining(std::size_t size_index) const { return work * job.time[size_index]; }
  double fastest_remaining() const { return work * job.fastest_time(); }

  // Exactly "completes at or before the deadline": the completion is rounded up to a whole
  // microsecond and the slack is whole, so comparing before rounding gives the same answer.
  bool on_time(std::size_t size_index) const { return remaining(size_index) <= slack; }
};

}  // namespace partita::policies
