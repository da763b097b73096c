// SMART-MIG's time-indexed program for tardiness, for as many jobs as a solver can take.
#pragma once

#include <cstddef>

#include "bounds/instance.h"
#include "bounds/solver.h"

namespace partita::bounds {

inline constexpr std::size_t kMipJobsMax = 100;

struct MipBound {
  MipStatus status = MipStatus::kFailed;
  double total_s = 0;  // of tardiness; what the solver proved, never what it found
  double slot_s = 0;   // what the program misses is at most two slots a job
};

// `finer` times as many slots as can be solved in seconds. REQUIRES: at most kMipJobsMax jobs.
MipBound mip_tardiness(const Instance& instance, double seconds_max, std::size_t finer = 1);

}  // namespace partita::bounds
