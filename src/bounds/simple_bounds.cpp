#include "bounds/simple_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "bounds/makespan.h"
#include "bounds/rounding.h"

namespace partita::bounds {
namespace {

// Exact for any trace: 2^127 ticks of a millionth of a microsecond are more than the age of the
// world.
__extension__ typedef __int128 Ticks;

// Steps of the precise matching: a few seconds.
constexpr std::uint64_t kMatchingStepsMax = 200'000'000;

// Work in compute-slice microseconds; a tick is the time that the fleet takes for one of them, so
// that everything is whole.
struct Task {
  Ticks release = 0;
  Ticks due = 0;  // or the end of the job if it had the fleet for itself, the later
  Ticks work = 0;
};

Ticks speed_of(const Problem& problem) {
  return static_cast<Ticks>(problem.compute_slices) * problem.gpus;
}

std::vector<Task> tasks_of(const Problem& problem) {
  const Ticks speed = speed_of(problem);
  std::vector<Task> tasks;
  for (const BoundJob& job : problem.jobs) {
    const auto release = static_cast<Ticks>(job.release);
    const Ticks alone = release + static_cast<Ticks>(job.fastest() * kWorkAsked);
    tasks.push_back({release * speed, std::max(static_cast<Ticks>(job.due), alone) * speed,
                     static_cast<Ticks>(job.least_work(problem.modes) * kWorkAsked)});
  }
  return tasks;
}

// One machine, shortest remaining first.
class Machine {
 public:
  // REQUIRES: not before the last release.
  void add(Ticks release, Ticks work, std::vector<Ticks>& done) {
    run_until(release, done);
    now_ = std::max(now_, release);
    waiting_.push(work);
  }
  void run_until(Ticks until, std::vector<Ticks>& done) {
    while (!waiting_.empty() && now_ < until) {
      const Ticks work = waiting_.top();
      waiting_.pop();
      if (now_ + work <= until) {
        now_ += work;
        done.push_back(now_);
      } else {
        waiting_.push(work - (until - now_));
        now_ = until;
      }
    }
  }
  void finish(std::vector<Ticks>& done) {
    for (; !waiting_.empty(); waiting_.pop()) {
      now_ += waiting_.top();
      done.push_back(now_);
    }
  }

 private:
  std::priority_queue<Ticks, std::vector<Ticks>, std::greater<>> waiting_;
  Ticks now_ = 0;
};

double seconds_below(Ticks ticks, Ticks speed) {
  return over_below(below(static_cast<double>(ticks)),
                    above(static_cast<double>(speed)) * kMicrosPerSecond);
}

// From one due date to the next, the tasks due by the first that cannot be done, over time. Only
// the busy period at that due date matters: what came before it is done.
class LateCounts {
 public:
  explicit LateCounts(const std::vector<Task>& tasks) : tasks_(tasks), by_due_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i) by_due_[i] = i;
    std::ranges::stable_sort(by_due_, {}, [&](std::size_t i) { return tasks_[i].due; });
  }

  // Ticks of tardiness against Task::due, or nothing when it takes too many steps.
  std::optional<Ticks> total() {
    for (std::size_t k = 0; k < by_due_.size(); ++k) {
      due_.insert(std::ranges::upper_bound(due_, by_due_[k]), by_due_[k]);
      const Ticks from = tasks_[by_due_[k]].due;
      const bool last = k + 1 == by_due_.size();
      if (!last && tasks_[by_due_[k + 1]].due == from) continue;
      add_late(from, last ? std::optional<Ticks>{} : tasks_[by_due_[k + 1]].due);
      if (steps_ > kMatchingStepsMax) return {};
    }
    return total_;
  }

 private:
  void add_late(Ticks from, std::optional<Ticks> to) {
    std::size_t first = 0;  // of the busy period
    Ticks through = 0;
    for (std::size_t i = 0; i < due_.size(); ++i) {
      const Task& task = tasks_[due_[i]];
      if (task.release >= through) {
        first = i;
        through = task.release;
      }
      through += task.work;
    }
    steps_ += due_.size();
    if (through <= from) return;
    done_.clear();
    Machine machine;
    for (std::size_t i = first; i < due_.size(); ++i) {
      machine.add(tasks_[due_[i]].release, tasks_[due_[i]].work, done_);
    }
    machine.finish(done_);
    steps_ += kHeapSteps * done_.size();
    for (const Ticks done : done_) {
      total_ += std::max<Ticks>(0, (to ? std::min(done, *to) : done) - from);
    }
  }

  static constexpr std::uint64_t kHeapSteps = 20;  // as long as so many of the others
  const std::vector<Task>& tasks_;                 // in order of release
  std::vector<std::size_t> by_due_;
  std::vector<std::size_t> due_;  // by now, in order of release
  std::vector<Ticks> done_;
  Ticks total_ = 0;
  std::uint64_t steps_ = 0;
};

Ticks rough_late(const std::vector<Task>& tasks) {
  Machine machine;
  std::vector<Ticks> done;
  std::vector<Ticks> dues;
  for (const Task& task : tasks) {
    machine.add(task.release, task.work, done);
    dues.push_back(task.due);
  }
  machine.finish(done);
  std::ranges::sort(dues);
  Ticks total = 0;
  for (std::size_t i = 0; i < done.size(); ++i) total += std::max<Ticks>(0, done[i] - dues[i]);
  return total;
}

// What jobs are late when each is alone.
Ticks fastest_late(const Problem& problem) {
  Ticks total = 0;
  for (const BoundJob& job : problem.jobs) {
    const auto shortest = static_cast<Ticks>(job.fastest() * kWorkAsked);
    total += std::max<Ticks>(0, static_cast<Ticks>(job.release - job.due) + shortest);
  }
  return total;
}

// The most watts that a busy slice draws for sure when an idle GPU is said to draw `idle`.
double slope_below(const Problem& problem, double idle) {
  double least = std::numeric_limits<double>::infinity();
  for (const Load& load : problem.loads) {
    if (load.compute == 0) continue;
    const double above_idle = add_below(below(load.watts_after), -idle);
    least = std::min(least, over_below(above_idle, load.compute));
  }
  return least;
}

// Where a line under the power curve meets the axis: the best one goes through two of its points,
// or through the axis at the least or the most it may.
std::vector<double> idle_candidates(const Problem& problem) {
  std::vector<double> found{problem.idle_watts, 0};
  for (const Load& one : problem.loads) {
    for (const Load& other : problem.loads) {
      if (one.compute == 0 || one.compute >= other.compute) continue;
      const double idle = (one.watts_after * other.compute - other.watts_after * one.compute) /
                          (other.compute - one.compute);
      if (idle > 0 && idle < problem.idle_watts) found.push_back(idle);
    }
  }
  return found;
}

double work_below_s(const Problem& problem) {
  double work = 0;
  for (const BoundJob& job : problem.jobs) {
    work = add_below(work, job.least_work(problem.modes));
  }
  return over_below(times_below(work, kWorkAsked), kMicrosPerSecond);
}

}  // namespace

double idle_energy_j(const Problem& problem) {
  const double seconds = over_below(problem.on_until, kMicrosPerSecond);
  return times_below(times_below(problem.idle_watts, problem.gpus), seconds);
}

double linear_energy_j(const Problem& problem) {
  const double work = work_below_s(problem);
  const double on = times_below(over_below(problem.on_until, kMicrosPerSecond), problem.gpus);
  double best = 0;
  for (const double idle : idle_candidates(problem)) {
    const double slope = std::max(0.0, slope_below(problem, idle));
    best = std::max(best, add_below(times_below(idle, on), times_below(slope, work)));
  }
  return best;
}

Result<double> smart_mig_energy_j(const Problem& problem) {
  const int slices = problem.compute_slices;
  const double full = problem.busy_watts.back();
  if (problem.busy_watts.front() > 0) return Error{"an idle GPU draws more than a busy one"};
  for (int busy = 0; busy <= slices; ++busy) {
    if (problem.busy_watts[static_cast<std::size_t>(busy)] * slices >= full * busy) continue;
    return Error{fmt::format("{} busy slices draw less than their share of {}", busy, slices)};
  }
  const auto single = std::ranges::find(problem.modes, 1, &Mode::compute) - problem.modes.begin();
  for (const BoundJob& job : problem.jobs) {
    const double time = job.time.at(static_cast<std::size_t>(single));
    // Times are rounded to whole microseconds, the sum of all slices by so many.
    const bool linear_at_most = time > 0 && time <= job.least_work(problem.modes) + slices;
    if (!linear_at_most) return Error{"a job may not run on one slice, or is faster than linear"};
  }
  const double whole = over_below(work_below_s(problem), slices);
  const double on =
      times_below(over_below(linear_makespan(problem), kMicrosPerSecond), problem.gpus);
  return add_below(times_below(whole, below(full)), times_below(on, problem.idle_watts));
}

double fastest_tardiness_s(const Problem& problem) {
  return seconds_below(fastest_late(problem), 1);
}

double rough_matching_tardiness_s(const Problem& problem) {
  const Ticks speed = speed_of(problem);
  return seconds_below(fastest_late(problem) * speed + rough_late(tasks_of(problem)), speed);
}

double matching_tardiness_s(const Problem& problem) {
  const std::vector<Task> tasks = tasks_of(problem);
  const Ticks speed = speed_of(problem);
  const std::optional<Ticks> precise = LateCounts(tasks).total();
  const Ticks late = precise ? *precise : rough_late(tasks);
  return seconds_below(fastest_late(problem) * speed + late, speed);
}

}  // namespace partita::bounds
