// Slot pricing: where a job finishes, and in which slots it works, when slots have prices.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "bounds/slots/slot_program.h"

namespace partita::bounds {

// Slots by whose end a job may be first finished; the number of slots stands for never.
struct SlotRange {
  std::size_t low = 0;
  std::size_t high = 0;

  bool holds(std::size_t slot) const { return low <= slot && slot <= high; }
};

// One way to do a job.
struct SlotPlan {
  std::size_t job = 0;
  std::size_t finish = 0;
  double late_s = std::numeric_limits<double>::infinity();  // so as long as there is no way
  double rent_s = 0;
  std::vector<std::size_t> used;  // slots, all of each but the last
  double last_share = 0;          // of the last one

  double cost_s() const { return late_s + rent_s; }
  // Of the GPU that is used in used[i].
  double share(std::size_t i) const { return i + 1 == used.size() ? last_share : 1; }
};

// Finds the cheapest plans. Prices are for a whole slot of one GPU, in seconds of tardiness.
class SlotPricing {
 public:
  explicit SlotPricing(const SlotProgram& program) : program_(program) {}

  // Infinitely late if there is none in the range. Slots times those that the job needs.
  SlotPlan cheapest(std::size_t job, const SlotRange& range, const std::vector<double>& prices);

 private:
  struct Met {
    double price;
    std::size_t slot;
  };
  void remember(const Met& met, std::size_t most);

  const SlotProgram& program_;
  std::vector<Met> met_;  // the cheapest slots so far, in order of price
};

}  // namespace partita::bounds
