// Candidate: one job that wants a slice now, with the arithmetic every order and placement needs.
#pragma once

#include <bit>
#include <limits>

#include "decide/active_job.h"

namespace partita::policies {

using cluster::JobHandle;
using cluster::SliceId;

class Candidate {
 public:
  static constexpr unsigned kAllSizes = (1U << workload::kSliceSizeCount) - 1;

  // `offered`: the sizes it could be placed on, for orders that ask (job_order.h).
  Candidate(const decide::ActiveJob& active, Micros at, unsigned offered = kAllSizes)
      : job(active), now(at), sizes(offered) {}

  const decide::ActiveJob& job;
  Micros now;
  unsigned sizes;  // bit i for size index i

  double work() const { return job.work_at(now); }  // fraction left
  double remaining(std::size_t size_index) const { return work() * job.time[size_index]; }
  double fastest_remaining() const { return work() * job.fastest_time(); }
  // The same over the sizes offered. REQUIRES: it may use one of them.
  double fastest_offered_remaining() const {
    double best = std::numeric_limits<double>::infinity();
    for (unsigned left = sizes; left != 0; left &= left - 1) {
      best = std::min(best, job.time[static_cast<std::size_t>(std::countr_zero(left))]);
    }
    return work() * best;
  }
  // Microseconds until the deadline, less the overhead of a restart.
  double slack() const {
    return static_cast<double>((job.deadline - now - job.overhead(now)).count);
  }
  // Bit i for size index i.
  unsigned on_time_sizes() const { return job.on_time_sizes(now); }
  bool on_time(std::size_t size_index) const { return (on_time_sizes() >> size_index & 1U) != 0; }
};

}  // namespace partita::policies
