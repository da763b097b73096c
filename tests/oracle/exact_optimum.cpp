#include "oracle/exact_optimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bounds/solver.h"
#include "oracle/packing.h"

namespace partita::bounds {
namespace {

constexpr int kResting = -1;

// Which jobs run on which modes at one moment, and the watts that takes above idle.
struct Assignment {
  std::vector<int> mode;  // by job; kResting
  unsigned running = 0;   // bit by job
  double watts = 0;
};

class Assignments {
 public:
  explicit Assignments(const Problem& problem) : problem_(problem), packing_(problem) {
    choice_.assign(problem.jobs.size(), kResting);
    choose(0);
  }
  std::vector<Assignment> all;

 private:
  void choose(std::size_t job) {
    if (job == problem_.jobs.size()) return keep();
    choice_[job] = kResting;
    choose(job + 1);
    for (std::size_t mode = 0; mode < problem_.modes.size(); ++mode) {
      if (problem_.jobs[job].time[mode] <= 0 || dominated(problem_, problem_.jobs[job], mode))
        continue;
      choice_[job] = static_cast<int>(mode);
      choose(job + 1);
    }
    choice_[job] = kResting;
  }
  void keep() {
    Packing::Counts wanted{};
    Assignment made{choice_, 0, 0};
    for (std::size_t job = 0; job < choice_.size(); ++job) {
      if (choice_[job] == kResting) continue;
      ++wanted[static_cast<std::size_t>(choice_[job])];
      made.running |= 1U << job;
    }
    made.watts = packing_.watts(wanted, problem_.gpus);
    if (made.watts < kNoLimit) all.push_back(std::move(made));
  }

  const Problem& problem_;
  Packing packing_;
  std::vector<int> choice_;
};

// One order of events as a linear program: columns are seconds spent in assignments, between each
// event and the next.
class Order {
 public:
  Order(const Problem& problem, const Weights& weights, const std::vector<Assignment>& all)
      : problem_(problem), weights_(weights), all_(all) {}

  void try_all(double& least) {
    active_ = 0;
    ended_ = 0;
    next_release_ = 0;
    gaps_.clear();
    extend(least);
  }

 private:
  struct Gap {  // the time before an event
    unsigned active = 0;
    int release = -1;  // the job released at its end, or
    int completed = -1;
  };

  void extend(double& least);
  double solve() const;
  struct Rows {
    std::vector<std::size_t> work;
    std::vector<std::size_t> late;
    std::vector<std::size_t> release;  // by gap that ends with one
    std::size_t end = 0;
  };
  Rows add_rows(LinearModel& model) const;

  const Problem& problem_;
  const Weights& weights_;
  const std::vector<Assignment>& all_;
  unsigned active_ = 0;
  unsigned ended_ = 0;
  std::size_t next_release_ = 0;
  std::vector<Gap> gaps_;
};

void Order::extend(double& least) {
  const std::size_t jobs = problem_.jobs.size();
  if (ended_ == (1U << jobs) - 1) {
    least = std::min(least, solve());
    return;
  }
  if (next_release_ < jobs) {
    const auto job = static_cast<int>(next_release_);
    gaps_.push_back({active_, job, -1});
    active_ |= 1U << next_release_;
    ++next_release_;
    extend(least);
    --next_release_;
    active_ &= ~(1U << next_release_);
    gaps_.pop_back();
  }
  for (std::size_t job = 0; job < jobs; ++job) {
    const unsigned bit = 1U << job;
    if ((active_ & bit) == 0) continue;
    gaps_.push_back({active_, -1, static_cast<int>(job)});
    active_ &= ~bit;
    ended_ |= bit;
    extend(least);
    ended_ &= ~bit;
    active_ |= bit;
    gaps_.pop_back();
  }
}

// Tardiness columns come first, then the end of the energy integral.
Order::Rows Order::add_rows(LinearModel& model) const {
  Rows rows;
  const double idle = weights_.energy * problem_.idle_watts * problem_.gpus;
  for (const BoundJob& job : problem_.jobs) {
    const std::size_t late = model.add_column(weights_.late, 0, kNoLimit);
    rows.work.push_back(model.add_row(1, kNoLimit));
    // late - completion >= -due
    rows.late.push_back(model.add_row(-job.due * kSecondsPerMicro, kNoLimit));
    model.set(rows.late.back(), late, 1);
  }
  const std::size_t end = model.add_column(idle, problem_.horizon * kSecondsPerMicro, kNoLimit);
  rows.end = model.add_row(0, kNoLimit);  // end - last completion >= 0
  model.set(rows.end, end, 1);
  for (const Gap& gap : gaps_) {
    if (gap.release < 0) {
      rows.release.push_back(0);
      continue;
    }
    const double at = problem_.jobs[static_cast<std::size_t>(gap.release)].release;
    rows.release.push_back(model.add_row(at * kSecondsPerMicro, at * kSecondsPerMicro));
  }
  return rows;
}

double Order::solve() const {
  LinearModel model;
  const Rows rows = add_rows(model);
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    for (const Assignment& assignment : all_) {
      if ((assignment.running & ~gaps_[g].active) != 0) continue;
      const std::size_t column = model.add_column(weights_.energy * assignment.watts, 0, kNoLimit);
      for (std::size_t job = 0; job < problem_.jobs.size(); ++job) {
        const int mode = assignment.mode[job];
        if (mode == kResting) continue;
        const double time = problem_.jobs[job].time[static_cast<std::size_t>(mode)];
        model.set(rows.work[job], column, 1 / (time * kSecondsPerMicro));
      }
      model.set(rows.end, column, -1);
      for (std::size_t later = g; later < gaps_.size(); ++later) {
        if (gaps_[later].release >= 0) model.set(rows.release[later], column, 1);
        if (gaps_[later].completed >= 0) {
          model.set(rows.late[static_cast<std::size_t>(gaps_[later].completed)], column, -1);
        }
      }
    }
  }
  const LpAnswer answer = solve_linear(model);
  return answer.optimal ? answer.value : kNoLimit;
}

}  // namespace

Result<double> exact_optimum(const Problem& problem, const Weights& weights) {
  if (problem.jobs.size() > kExactJobsMax || problem.gpus > kExactGpusMax) {
    return Error{fmt::format("the exact optimum takes up to {} jobs on {} GPUs, there are {} on {}",
                             kExactJobsMax, kExactGpusMax, problem.jobs.size(), problem.gpus)};
  }
  const Assignments assignments(problem);
  double least = kNoLimit;
  Order(problem, weights, assignments.all).try_all(least);
  if (least == kNoLimit) return Error{"the solver found no optimum for any order of events"};
  return least;
}

}  // namespace partita::bounds
