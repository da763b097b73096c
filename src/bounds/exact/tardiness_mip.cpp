#include "bounds/exact/tardiness_mip.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::bounds {
namespace {

constexpr std::size_t kCellsMax = 8'000;  // jobs times slots
constexpr std::size_t kSlotsMin = 20;
constexpr std::size_t kSlotsMax = 160;
// The solver's tolerances, generously.
constexpr double kSolverSlack = 1e-6;
constexpr double kLevelShare = 0.5;  // of the time left, to divide cases with slots of one size

// done[s]: work of a job by the end of slot s; finished[s]: whether that is all of it. A job is
// charged for the part after its due date of every slot at whose end it is not finished, less that
// slot if it finishes there, so that what is charged is never more than its tardiness.
class CbcProgram {
 public:
  explicit CbcProgram(const SlotProgram& program) : program_(program) {
    for (std::size_t s = 0; s < program_.slots; ++s)
      capacity_.push_back(model_.add_row(-kNoLimit, program_.gpus * program_.slot_s()));
    for (const SlotTask& task : program_.tasks) add(task);
  }

  const LinearModel& model() const { return model_; }
  double constant() const { return constant_; }

 private:
  void add(const SlotTask& task);
  void add_slot(std::size_t s, std::size_t done, std::size_t before);
  void add_finish(const SlotTask& task, std::size_t s, std::size_t done);

  const SlotProgram& program_;
  LinearModel model_;
  std::vector<std::size_t> capacity_;  // rows by slot
  std::size_t finished_before_ = kNone;
  double constant_ = 0;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

void CbcProgram::add(const SlotTask& task) {
  finished_before_ = kNone;
  constant_ += program_.late_s(task, task.first);
  std::size_t before = kNone;
  for (std::size_t s = task.first; s < program_.slots; ++s) {
    const std::size_t done = model_.add_column(0, 0, task.length * 1e-6);
    add_slot(s, done, before);
    before = done;
    if (program_.late_s(task, s + 1) > 0) add_finish(task, s, done);
  }
}

// At most a slot of work in a slot, and never less than before.
void CbcProgram::add_slot(std::size_t s, std::size_t done, std::size_t before) {
  model_.set(capacity_[s], done, 1);
  const std::size_t pace = model_.add_row(0, program_.slot_s());
  model_.set(pace, done, 1);
  if (before == kNone) return;
  model_.set(pace, before, -1);
  model_.set(capacity_[s], before, -1);
}

void CbcProgram::add_finish(const SlotTask& task, std::size_t s, std::size_t done) {
  const double overlap = program_.late_s(task, s + 1) - program_.late_s(task, s);
  constant_ += overlap;
  const std::size_t finished = model_.add_column(-overlap, 0, 1, true);
  const std::size_t row = model_.add_row(0, kNoLimit);
  model_.set(row, done, 1);
  model_.set(row, finished, -task.length * 1e-6);
  if (finished_before_ != kNone) {
    const std::size_t order = model_.add_row(0, kNoLimit);
    model_.set(order, finished, 1);
    model_.set(order, finished_before_, -1);
  }
  finished_before_ = finished;
}

TreeBound checked(const Problem& problem, TreeFound found) {
  const Result<double> proven = proven_tardiness_s(problem, found.tree);
  CHECK(proven.ok());
  return {*proven, std::move(found)};
}

}  // namespace

SlotProgram mip_program(const Problem& problem, std::size_t finer) {
  CHECK(problem.jobs.size() <= kMipJobsMax);
  CHECK(finer >= 1 && finer <= kMipFinerMax);
  const std::size_t slots = std::clamp(kCellsMax / problem.jobs.size(), kSlotsMin, kSlotsMax);
  const double end = slots_end(problem) * (1 + kSolverSlack);
  const auto finest =
      static_cast<std::int64_t>(std::ceil(end / static_cast<double>(slots * kMipFinerMax)));
  const auto times = static_cast<std::int64_t>(kMipFinerMax / finer);
  return slot_program(problem, std::max<std::int64_t>(1, finest) * times, slots * finer);
}

MipBound cbc_tardiness(const SlotProgram& slots, double seconds_max) {
  MipBound bound;
  bound.slot_s = slots.slot_s();
  const CbcProgram program(slots);
  const MipAnswer answer = solve_whole(program.model(), seconds_max);
  bound.status = answer.status;
  const double proven = answer.proven + program.constant();
  if (std::isfinite(proven)) {
    bound.total_s = std::max(0.0, proven - kSolverSlack * (1 + std::fabs(program.constant())));
  }
  return bound;
}

MipBound mip_tardiness(const Problem& problem, double seconds_max, std::size_t finer) {
  return cbc_tardiness(mip_program(problem, finer), seconds_max);
}

// Finer slots prove more, and prices for them are found fast; cases are divided with coarse slots
// first, where there is hope for all of them.
TreeBound tree_tardiness(const Problem& problem, const TreeEffort& effort) {
  TreeBound best;
  TreeEffort fast = effort;
  fast.programs_max = 0;
  std::vector<double> prices;
  double prices_slot = 1;
  for (std::size_t finer = 1; finer <= kMipFinerMax; finer *= 2) {
    const SlotProgram slots = mip_program(problem, finer);
    TreeBound bound = checked(problem, search_tree(slots, fast, prices, prices_slot));
    prices = bound.found.tree.nodes.front().prices;
    prices_slot = slots.slot;
    if (finer == 1 || bound.total_s > best.total_s) best = std::move(bound);
  }
  const bool solved_at_once = best.found.end == TreeEnd::kOptimal;
  TreeEnd end = best.found.end;
  bool divided = solved_at_once;
  for (std::size_t finer = 1; finer <= kMipFinerMax && !solved_at_once; finer *= 2) {
    TreeEffort part = effort;
    const double until = effort.seconds_left() * (1 - kLevelShare);
    part.seconds_left = [&] { return effort.seconds_left() - until; };
    const SlotProgram slots = mip_program(problem, finer);
    TreeBound bound = checked(problem, search_tree(slots, part, prices, prices_slot));
    end = bound.found.end;
    if (bound.total_s >= best.total_s) {
      best = std::move(bound);
      divided = true;
    }
    if (end != TreeEnd::kOptimal) break;
  }
  // Of prices alone: they are what there is when the division of cases ended as it did.
  if (!divided && end != TreeEnd::kOptimal) best.found.end = end;
  return best;
}

}  // namespace partita::bounds
