// The second simulator's own statement of memory that grows: when a job has to leave its slice.
#pragma once

#include <optional>

#include "oracle/naive_state.h"

namespace partita::oracle {

// At this instant the job loses all its work and will need so much memory.
struct MemoryLoss {
  Micros time = kNever;
  bool early = false;  // by the projection of its peak, not for want of memory
  double need_gib = 0;
};

// What becomes of the job on the slice it runs on, seen from now. Nothing where it can stay.
std::optional<MemoryLoss> memory_loss(const Setup& setup, const workload::Job& job,
                                      const JobState& state, std::size_t index, Micros now);

}  // namespace partita::oracle
