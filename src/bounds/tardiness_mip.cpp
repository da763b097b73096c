#include "bounds/tardiness_mip.h"

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

struct Task {
  double release = 0;  // seconds
  double due = 0;
  double length = 0;  // on a whole GPU, linearised
};

std::vector<Task> tasks_of(const Instance& instance) {
  std::vector<Task> tasks;
  for (const BoundJob& job : instance.jobs) {
    const double work = job.least_work(instance.modes) * kWorkAsked;
    tasks.push_back({job.release * 1e-6, job.due * 1e-6, work * 1e-6 / instance.compute_slices});
  }
  return tasks;
}

// Some optimum has all work done by then: after the last release no GPU idles while a job waits.
double end_of(const std::vector<Task>& tasks, double machines) {
  double last = 0;
  double sum = 0;
  double longest = 0;
  for (const Task& task : tasks) {
    last = std::max(last, task.release);
    sum += task.length;
    longest = std::max(longest, task.length);
  }
  return last + longest + (sum - longest) / machines;
}

// done[s]: work of a job by the end of slot s; finished[s]: whether that is all of it. A job is
// charged for the part after its due date of every slot at whose end it is not finished, less that
// slot if it finishes there, so that what is charged is never more than its tardiness.
class Program {
 public:
  Program(const std::vector<Task>& tasks, double machines, double slot, std::size_t slots)
      : tasks_(tasks), slot_(slot), slots_(slots) {
    for (std::size_t s = 0; s < slots_; ++s)
      capacity_.push_back(model_.add_row(-kNoLimit, machines * slot));
    for (const Task& task : tasks_) add(task);
  }

  const LinearModel& model() const { return model_; }
  double constant() const { return constant_; }

 private:
  std::size_t slot_of(double instant) const {
    return std::min(slots_, static_cast<std::size_t>(std::floor(instant / slot_)));
  }
  void add(const Task& task);
  void add_slot(std::size_t s, std::size_t done, std::size_t before);
  void add_finish(const Task& task, std::size_t s, std::size_t done);

  const std::vector<Task>& tasks_;
  double slot_;
  std::size_t slots_;
  LinearModel model_;
  std::vector<std::size_t> capacity_;  // rows by slot
  std::size_t finished_before_ = kNone;
  double constant_ = 0;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

void Program::add(const Task& task) {
  finished_before_ = kNone;
  std::size_t before = kNone;
  for (std::size_t s = slot_of(task.release); s < slots_; ++s) {
    const std::size_t done = model_.add_column(0, 0, task.length);
    add_slot(s, done, before);
    before = done;
    if (static_cast<double>(s + 1) * slot_ > task.due) add_finish(task, s, done);
  }
}

// At most a slot of work in a slot, and never less than before.
void Program::add_slot(std::size_t s, std::size_t done, std::size_t before) {
  model_.set(capacity_[s], done, 1);
  const std::size_t pace = model_.add_row(0, slot_);
  model_.set(pace, done, 1);
  if (before == kNone) return;
  model_.set(pace, before, -1);
  model_.set(capacity_[s], before, -1);
}

void Program::add_finish(const Task& task, std::size_t s, std::size_t done) {
  const double from = std::max(task.due, static_cast<double>(s) * slot_);
  const double overlap = static_cast<double>(s + 1) * slot_ - from;
  constant_ += overlap;
  const std::size_t finished = model_.add_column(-overlap, 0, 1, true);
  const std::size_t row = model_.add_row(0, kNoLimit);
  model_.set(row, done, 1);
  model_.set(row, finished, -task.length);
  if (finished_before_ != kNone) {
    const std::size_t order = model_.add_row(0, kNoLimit);
    model_.set(order, finished, 1);
    model_.set(order, finished_before_, -1);
  }
  finished_before_ = finished;
}

}  // namespace

MipBound mip_tardiness(const Instance& instance, double seconds_max, std::size_t finer) {
  CHECK(instance.jobs.size() <= kMipJobsMax);
  const std::vector<Task> tasks = tasks_of(instance);
  const std::size_t slots = finer * std::clamp(kCellsMax / tasks.size(), kSlotsMin, kSlotsMax);
  const double end = end_of(tasks, instance.gpus) * (1 + kSolverSlack);
  MipBound bound;
  bound.slot_s = end / static_cast<double>(slots);
  const Program program(tasks, instance.gpus, bound.slot_s, slots);
  const MipAnswer answer = solve_whole(program.model(), seconds_max);
  bound.status = answer.status;
  const double proven = answer.proven + program.constant();
  if (std::isfinite(proven)) {
    bound.total_s = std::max(0.0, proven - kSolverSlack * (1 + std::fabs(program.constant())));
  }
  return bound;
}

}  // namespace partita::bounds
