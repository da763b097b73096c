#include "bounds/slots/slot_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bounds/rounding.h"
#include "bounds/slots/slot_program.h"

namespace partita::bounds {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// Slots by whose end a job may be first finished; the number of slots stands for never.
struct Range {
  std::size_t low = 0;
  std::size_t high = 0;
};
using Branch = std::vector<Range>;  // by job

Status check_shape(const Problem& problem, const SlotTree& tree) {
  if (tree.slot_us < 1 || tree.slots < 1 || tree.slots > kTreeSlotsMax ||
      static_cast<double>(tree.slot_us) * static_cast<double>(tree.slots) > 0x1p52) {
    return Error{fmt::format("it has {} slots of {} us", tree.slots, tree.slot_us)};
  }
  for (const SlotTreeNode& node : tree.nodes) {
    if (!node.leaf && (node.job >= problem.jobs.size() || node.slot >= tree.slots)) {
      return Error{fmt::format("a case is about job {} and slot {}, which do not exist", node.job,
                               node.slot)};
    }
    if (node.prices.size() > tree.slots) return Error{"there are more prices than slots"};
    for (const double price : node.prices) {
      if (!(price >= 0) || !std::isfinite(price)) return Error{"a price is negative or no number"};
    }
  }
  return {};
}

class LeafCheck {
 public:
  LeafCheck(const SlotProgram& program, const std::vector<double>& prices)
      : program_(program), prices_(prices) {}

  // Infinite if the case has no solution.
  double cost_below(const Branch& ranges);

 private:
  double price(std::size_t slot) const { return slot < prices_.size() ? prices_[slot] : 0; }
  double job_below(const SlotTask& task, const Range& range);
  void remember(double price, std::size_t most);
  double rent_below(const SlotTask& task) const;

  const SlotProgram& program_;
  const std::vector<double>& prices_;
  std::vector<double> cheapest_;  // prices the job has met, in order, as many as it needs
};

void LeafCheck::remember(double price, std::size_t most) {
  if (cheapest_.size() == most) {
    if (price >= cheapest_.back()) return;
    cheapest_.pop_back();
  }
  cheapest_.insert(std::ranges::upper_bound(cheapest_, price), price);
}

// For any price m of a second of work the job pays at least m times its length, less what all slots
// are cheaper than that. With the dearest of the remembered prices no other slot is cheaper.
double LeafCheck::rent_below(const SlotTask& task) const {
  const double dearest = cheapest_.back();
  double cheaper = 0;
  for (const double each : cheapest_) cheaper = add_above(cheaper, above(dearest - each));
  const double saved = times_above(over_above(program_.slot, kMicrosPerSecond), cheaper);
  const double whole = times_below(dearest, over_below(task.length, kMicrosPerSecond));
  return std::max(0.0, add_below(whole, -saved));
}

double LeafCheck::job_below(const SlotTask& task, const Range& range) {
  double least = kImpossible;
  if (range.high == program_.slots) least = program_.late_s(task, program_.slots);
  const auto needed = static_cast<std::size_t>(
      std::clamp(std::ceil(task.length / program_.slot), 1.0, kTreeSlotsMax * 1.0));
  cheapest_.clear();
  for (std::size_t slot = task.first; slot < program_.slots && slot <= range.high; ++slot) {
    const double late = program_.late_s(task, slot);
    if (late >= least) break;  // and later ones are no better
    remember(price(slot), needed);
    if (slot < range.low) continue;
    if (static_cast<double>(slot - task.first + 1) * program_.slot < task.length) continue;
    least = std::min(least, add_below(late, rent_below(task)));
  }
  return least;
}

double LeafCheck::cost_below(const Branch& ranges) {
  double earned = 0;
  for (const double each : prices_) earned = add_above(earned, each);
  const double seconds = times_above(over_above(program_.slot, kMicrosPerSecond), program_.gpus);
  double cost = -times_above(seconds, earned);
  for (std::size_t job = 0; job < ranges.size(); ++job) {
    const double least = job_below(program_.tasks[job], ranges[job]);
    if (least == kImpossible) return kImpossible;
    cost = add_below(cost, least);
  }
  return cost;
}

}  // namespace

std::size_t SlotTree::leaves() const {
  return static_cast<std::size_t>(std::ranges::count_if(nodes, &SlotTreeNode::leaf));
}

Result<double> proven_tardiness_s(const Problem& problem, const SlotTree& tree) {
  const Status sound = check_shape(problem, tree);
  if (!sound) return sound.error();
  const SlotProgram program = slot_program(problem, tree.slot_us, tree.slots);
  std::vector<Branch> open{Branch(problem.jobs.size(), {0, tree.slots})};
  double least = kImpossible;
  for (const SlotTreeNode& node : tree.nodes) {
    if (open.empty()) return Error{"there are more nodes than cases"};
    Branch ranges = std::move(open.back());
    open.pop_back();
    if (node.leaf) {
      least = std::min(least, LeafCheck(program, node.prices).cost_below(ranges));
      continue;
    }
    Branch later = ranges;
    later[node.job].low = std::max(later[node.job].low, node.slot + 1);
    ranges[node.job].high = std::min(ranges[node.job].high, node.slot);
    open.push_back(std::move(later));
    open.push_back(std::move(ranges));
  }
  if (!open.empty()) return Error{fmt::format("cases without a proof: {}", open.size())};
  if (least == kImpossible) return Error{"no case has a solution"};
  return std::max(0.0, least);
}

}  // namespace partita::bounds
