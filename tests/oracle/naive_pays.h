// Preemption that pays (docs/concepts/model.md), as the second simulator states it.
#pragma once

#include <vector>

#include "oracle/naive_rules.h"
#include "oracle/naive_state.h"

namespace partita::oracle {

// What one decision does: first all stops, then all starts.
struct PaidMoves {
  std::vector<std::size_t> stops;
  std::vector<Seat> starts;
};

// `present`: every job that waits or runs; `states`: of all jobs by number; both as they are before
// the decision, like the GPUs.
PaidMoves paying_moves(const Setup& setup, Micros now, const std::vector<Waiting>& present,
                       const std::vector<JobState>& states, const std::vector<Gpu>& gpus, Rng& rng);

}  // namespace partita::oracle
