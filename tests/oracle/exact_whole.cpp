#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bounds/solver.h"
#include "oracle/exact_optimum.h"
#include "oracle/packing.h"

namespace partita::bounds {
namespace {

// Orders of begins and ends; the columns of the program of one are the seconds before each.
class Orders {
 public:
  Orders(const Problem& problem, const Weights& weights)
      : problem_(problem), weights_(weights), packing_(problem), mode_(problem.jobs.size()) {}

  double least() {
    choose(0);
    return least_;
  }

 private:
  struct Gap {  // the time before an event
    double watts = 0;
    std::size_t job = 0;  // that begins or ends with it
    bool begins = false;
  };

  void choose(std::size_t job);
  void extend();
  double solve() const;
  double watts() {
    Packing::Counts counts{};
    for (std::size_t job = 0; job < mode_.size(); ++job) {
      if (running(job)) ++counts[mode_[job]];
    }
    return packing_.watts(counts, problem_.gpus);
  }
  bool running(std::size_t job) const { return (begun_ & ~ended_) >> job & 1U; }

  const Problem& problem_;
  const Weights& weights_;
  Packing packing_;
  std::vector<std::size_t> mode_;  // by job
  unsigned begun_ = 0;
  unsigned ended_ = 0;
  std::vector<Gap> gaps_;
  double least_ = kNoLimit;
};

void Orders::choose(std::size_t job) {
  if (job == mode_.size()) return extend();
  for (std::size_t mode = 0; mode < problem_.modes.size(); ++mode) {
    const BoundJob& asked = problem_.jobs[job];
    if (asked.time[mode] <= 0 || dominated(problem_, asked, mode)) continue;
    mode_[job] = mode;
    choose(job + 1);
  }
}

void Orders::extend() {
  if (ended_ == (1U << mode_.size()) - 1) {
    least_ = std::min(least_, solve());
    return;
  }
  const double now = watts();
  if (now == kNoLimit) return;
  for (std::size_t job = 0; job < mode_.size(); ++job) {
    const unsigned bit = 1U << job;
    if ((begun_ & bit) == 0) {
      gaps_.push_back({now, job, true});
      begun_ |= bit;
      extend();
      begun_ &= ~bit;
      gaps_.pop_back();
    } else if ((ended_ & bit) == 0) {
      gaps_.push_back({now, job, false});
      ended_ |= bit;
      extend();
      ended_ &= ~bit;
      gaps_.pop_back();
    }
  }
}

double Orders::solve() const {
  LinearModel model;
  struct Rows {
    std::size_t release, length, late;
  };
  std::vector<Rows> rows;
  for (std::size_t job = 0; job < mode_.size(); ++job) {
    const BoundJob& asked = problem_.jobs[job];
    const double length = asked.time[mode_[job]] * kSecondsPerMicro;
    const std::size_t late = model.add_column(weights_.late, 0, kNoLimit);
    rows.push_back({model.add_row(asked.release * kSecondsPerMicro, kNoLimit),
                    model.add_row(length, length),
                    model.add_row(-asked.due * kSecondsPerMicro, kNoLimit)});
    model.set(rows.back().late, late, 1);
  }
  const double idle = weights_.energy * problem_.idle_watts * problem_.gpus;
  const std::size_t end = model.add_column(idle, problem_.horizon * kSecondsPerMicro, kNoLimit);
  const std::size_t last = model.add_row(0, kNoLimit);  // end - last event >= 0
  model.set(last, end, 1);
  for (std::size_t g = 0; g < gaps_.size(); ++g) {
    const std::size_t column = model.add_column(weights_.energy * gaps_[g].watts, 0, kNoLimit);
    model.set(last, column, -1);
    std::vector<bool> begins_later(mode_.size(), false);
    for (std::size_t later = g; later < gaps_.size(); ++later) {
      const std::size_t job = gaps_[later].job;
      if (gaps_[later].begins) {
        model.set(rows[job].release, column, 1);
        begins_later[job] = true;
      } else {
        model.set(rows[job].late, column, -1);
        if (!begins_later[job]) model.set(rows[job].length, column, 1);
      }
    }
  }
  const LpAnswer answer = solve_linear(model);
  return answer.optimal ? answer.value : kNoLimit;
}

}  // namespace

Result<double> exact_whole_optimum(const Problem& problem, const Weights& weights) {
  if (problem.jobs.size() > kExactWholeJobsMax || problem.gpus > kExactGpusMax) {
    return Error{fmt::format(
        "the exact optimum of whole runs takes up to {} jobs on {} GPUs, there are {} on {}",
        kExactWholeJobsMax, kExactGpusMax, problem.jobs.size(), problem.gpus)};
  }
  const double least = Orders(problem, weights).least();
  if (least == kNoLimit) return Error{"the solver found no optimum for any order of events"};
  return least;
}

}  // namespace partita::bounds
