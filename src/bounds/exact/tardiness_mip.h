// SMART-MIG's time-indexed program for tardiness, for as many jobs as a solver can take: by our own
// branch and bound, whose tree proves what it found, and by Cbc, whose word has to be taken.
#pragma once

#include <cstddef>
#include <functional>

#include "bounds/problem.h"
#include "bounds/slots/slot_program.h"
#include "bounds/slots/slot_search.h"
#include "bounds/solver.h"

namespace partita::bounds {

inline constexpr std::size_t kMipJobsMax = 100;
inline constexpr std::size_t kMipFinerMax = 8;

// `finer` times as many slots as Cbc can be hoped to take. REQUIRES: a power of two, at most
// kMipFinerMax; at most kMipJobsMax jobs.
SlotProgram mip_program(const Problem& problem, std::size_t finer);

struct MipBound {
  MipStatus status = MipStatus::kFailed;
  double total_s = 0;  // of tardiness; what Cbc proved, never what it found
  double slot_s = 0;   // what the program misses is at most two slots a job
};

MipBound cbc_tardiness(const SlotProgram& slots, double seconds_max);
// The same with slots that fine.
MipBound mip_tardiness(const Problem& problem, double seconds_max, std::size_t finer = 1);

struct TreeBound {
  double total_s = 0;  // as the check of the tree has it
  TreeFound found;
};

// By our own search, with the slots that prove most. Without a clock always the same.
TreeBound tree_tardiness(const Problem& problem, const TreeEffort& effort);

}  // namespace partita::bounds
