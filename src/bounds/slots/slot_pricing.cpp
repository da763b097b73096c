#include "bounds/slots/slot_pricing.h"

#include <algorithm>
#include <cmath>

namespace partita::bounds {

// Of equal prices the earlier slot first.
void SlotPricing::remember(const Met& met, std::size_t most) {
  if (met_.size() == most) {
    if (met.price >= met_.back().price) return;
    met_.pop_back();
  }
  met_.insert(std::ranges::upper_bound(met_, met.price, {}, &Met::price), met);
}

// The later a job may finish the less it pays, so what is late enough to cost more ends the search.
SlotPlan SlotPricing::cheapest(std::size_t job, const SlotRange& range,
                               const std::vector<double>& prices) {
  const SlotTask& task = program_.tasks[job];
  SlotPlan best{.job = job, .used = {}};
  if (range.high == program_.slots) {
    best.finish = program_.slots;
    best.late_s = program_.late_s(task, program_.slots);
  }
  const double length = task.length / program_.slot;
  const auto needed = static_cast<std::size_t>(std::max(1.0, std::ceil(length)));
  const double last_share = length - static_cast<double>(needed - 1);
  met_.clear();
  for (std::size_t slot = task.first; slot < program_.slots && slot <= range.high; ++slot) {
    const double late = program_.late_s(task, slot);
    if (late >= best.cost_s()) break;
    remember({prices[slot], slot}, needed);
    if (slot < range.low || met_.size() < needed) continue;
    double rent = met_.back().price * last_share;
    for (std::size_t i = 0; i + 1 < needed; ++i) rent += met_[i].price;
    // Of equal cost the later finish, which leaves more ways open.
    if (late + rent > best.cost_s()) continue;
    best.finish = slot;
    best.late_s = late;
    best.rent_s = rent;
    best.last_share = last_share;
    best.used.clear();
    for (const Met& met : met_) best.used.push_back(met.slot);
  }
  // In time is in time: one name for all of it.
  while (best.finish < std::min(range.high, program_.slots - 1) &&
         program_.late_s(task, best.finish + 1) <= best.late_s) {
    ++best.finish;
  }
  return best;
}

}  // namespace partita::bounds
