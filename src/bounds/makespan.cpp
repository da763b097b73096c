#include "bounds/makespan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "bounds/rounding.h"

namespace partita::bounds {
namespace {

// Levels nearer than this are made one: microseconds, and a share of the level for its rounding.
double same_as(double level) {
  return 1e-6 + 1e-13 * level;
}

// Jobs by remaining time, largest first; those at one level are served alike. Serving the largest
// first keeps every sum of the k largest as small as any schedule can, so what is left at the last
// release decides.
//
// Everything is rounded so that too much is served and never too little: remaining times down,
// paces and the time that is left up, levels that nearly meet to the lower one; and no step goes
// beyond where levels meet, so that the order of service is that of exact numbers. What is left is
// then never more than in the exact schedule.
class Levels {
 public:
  explicit Levels(double machines) : machines_(machines) {}

  void add(double remaining) { jobs_[remaining] += 1; }
  void serve(double span);
  // The present jobs take at least so long if no other comes.
  double rest() const;

 private:
  struct Group {
    double level;
    double count;
    double pace;
  };
  std::vector<Group> served() const;
  double step_until_levels_meet(const std::vector<Group>& groups, double span) const;

  double machines_;
  std::map<double, double, std::greater<>> jobs_;  // level to number of jobs
};

std::vector<Levels::Group> Levels::served() const {
  std::vector<Group> groups;
  double free = machines_;
  for (const auto& [level, count] : jobs_) {
    if (free <= 0) break;
    groups.push_back({level, count, std::min(1.0, over_above(free, count))});
    free -= count;
  }
  return groups;
}

double Levels::step_until_levels_meet(const std::vector<Group>& groups, double span) const {
  double step = span;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    double under = 0;
    double under_pace = 0;
    if (i + 1 < groups.size()) {
      under = groups[i + 1].level;
      under_pace = groups[i + 1].pace;
    } else if (const auto next = jobs_.upper_bound(groups[i].level); next != jobs_.end()) {
      under = next->first;
    }
    const double closing = above(groups[i].pace - below(under_pace));
    if (groups[i].pace == under_pace) continue;
    step = std::min(step, over_below(below(groups[i].level - under), closing));
  }
  return std::max(0.0, step);
}

// Until the levels of two groups meet, one is done, or time is up; then again.
void Levels::serve(double span) {
  while (span > 0 && !jobs_.empty()) {
    const std::vector<Group> groups = served();
    const double step = step_until_levels_meet(groups, span);
    for (const Group& group : groups) jobs_.erase(group.level);
    for (std::size_t i = groups.size(); i-- > 0;) {
      double level = add_below(groups[i].level, -times_above(step, groups[i].pace));
      double count = groups[i].count;
      const auto near = jobs_.lower_bound(level + same_as(level));
      if (near != jobs_.end() && near->first > level - same_as(level)) {
        level = std::min(level, near->first);
        count += near->second;
        jobs_.erase(near);
      }
      if (level > same_as(0)) jobs_[level] += count;
    }
    span = step >= span ? 0 : add_above(span, -step);
  }
}

double Levels::rest() const {
  double sum = 0;
  for (const auto& [level, count] : jobs_) sum = add_below(sum, times_below(level, count));
  return jobs_.empty() ? 0 : std::max(jobs_.begin()->first, over_below(sum, machines_));
}

}  // namespace

double linear_makespan(const Problem& problem) {
  Levels levels(problem.gpus);
  double now = 0;
  for (const BoundJob& job : problem.jobs) {
    levels.serve(job.release - now);
    now = job.release;
    const double work = times_below(job.least_work(problem.modes), kWorkAsked);
    levels.add(over_below(work, problem.compute_slices));
  }
  return add_below(now, levels.rest());
}

double least_makespan(const Problem& problem) {
  double least = linear_makespan(problem);
  for (const BoundJob& job : problem.jobs) {
    least = std::max(least, add_below(job.release, times_below(job.fastest(), kWorkAsked)));
  }
  return least;
}

}  // namespace partita::bounds
