// The search for a slot tree that proves much: branch and bound over the slots in which jobs are
// finished, each case bounded by the prices of a linear program that grows by columns. Nothing here
// has to be believed: any tree proves something, and slot_tree says what.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "bounds/slots/slot_program.h"
#include "bounds/slots/slot_tree.h"

namespace partita::bounds {

struct TreeEffort {
  std::size_t nodes_max = 1'000;  // at most kTreeNodesMax
  int programs_max = 2'000;       // solved in all; without any, no case is divided
  // Seconds left; asked before every program, none is begun when it gives 0 or less.
  std::function<double()> seconds_left = [] { return 1e9; };
};

enum class TreeEnd : unsigned char { kOptimal, kTimeLimit, kWorkLimit };
std::string_view name_of(TreeEnd end);

struct TreeFound {
  SlotTree tree;
  TreeEnd end = TreeEnd::kWorkLimit;
  double bound_s = 0;      // as doubles have it
  double incumbent_s = 0;  // the best solution of the program that was met
};

// Best bound first. The same arguments give the same tree unless time runs out. `prices`, by time
// in slots of `prices_slot` microseconds, are where the first case begins; they may be missing.
TreeFound search_tree(const SlotProgram& program, const TreeEffort& effort,
                      const std::vector<double>& prices = {}, double prices_slot = 1);

}  // namespace partita::bounds
