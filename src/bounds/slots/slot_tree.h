// Slot tree: cases that cover all solutions of the slot program, each with prices that prove how
// much its solutions cost; and the check of it, in directed rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bounds/problem.h"

namespace partita::bounds {

inline constexpr std::size_t kTreeNodesMax = 4'000;
inline constexpr std::size_t kTreeSlotsMax = 4'096;

// Either two cases follow: the job is finished by the end of the slot, with all its cases, and then
// the job is finished later or not at all, with all of its. Or none do, and prices prove the case.
struct SlotTreeNode {
  std::size_t job = 0;
  std::size_t slot = 0;
  // Of a GPU by slot, in seconds of tardiness a second; those missing at the end are 0.
  std::vector<double> prices = {};
  bool leaf = true;
};

struct SlotTree {
  std::int64_t slot_us = 0;
  std::size_t slots = 0;
  std::vector<SlotTreeNode> nodes = {};  // parents first, then all of the one case

  std::size_t leaves() const;
};

// Seconds of tardiness, all jobs together, that no schedule is below: the least of all leaves. With
// prices of GPUs fixed every job, alone, finishes where its tardiness and its rent are least, among
// the slots that its case leaves open; less what all GPUs could earn. An error says why the tree
// proves nothing: a case is missing, a price is negative. Leaves times jobs times slots.
Result<double> proven_tardiness_s(const Problem& problem, const SlotTree& tree);

}  // namespace partita::bounds
