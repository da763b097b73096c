#include "bounds/makespan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace partita::bounds {
namespace {

constexpr double kCaution = 1 - 1e-9;
constexpr double kSame = 1e-6;  // microseconds

// Jobs by remaining time, largest first; those at one level are served alike. Serving the largest
// first keeps every sum of the k largest as small as any schedule can, so what is left at the last
// release decides.
class Levels {
 public:
  explicit Levels(double machines) : machines_(machines) {}

  void add(double remaining) { jobs_[remaining] += 1; }
  void serve(double span);
  // How long the present jobs take if no other comes.
  double rest() const;

 private:
  struct Group {
    double level;
    double count;
    double pace;
  };
  std::vector<Group> served() const;

  double machines_;
  std::map<double, double, std::greater<>> jobs_;  // level to number of jobs
};

std::vector<Levels::Group> Levels::served() const {
  std::vector<Group> groups;
  double free = machines_;
  for (const auto& [level, count] : jobs_) {
    if (free <= 0) break;
    groups.push_back({level, count, std::min(1.0, free / count)});
    free -= count;
  }
  return groups;
}

// Until the levels of two groups meet, one is done, or time is up; then again.
void Levels::serve(double span) {
  while (span > 0 && !jobs_.empty()) {
    const std::vector<Group> groups = served();
    double step = span;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const bool last = i + 1 == groups.size();
      const auto below = last ? jobs_.upper_bound(groups[i].level) : jobs_.end();
      double under = 0;
      double under_pace = 0;
      if (!last) {
        under = groups[i + 1].level;
        under_pace = groups[i + 1].pace;
      } else if (below != jobs_.end()) {
        under = below->first;
      }
      const double closing = groups[i].pace - under_pace;
      if (closing > 0) step = std::min(step, (groups[i].level - under) / closing);
    }
    for (const Group& group : groups) jobs_.erase(group.level);
    for (const Group& group : groups) {
      double level = group.level - step * group.pace;
      // Levels that meet are equal up to rounding: make them one.
      const auto near = jobs_.lower_bound(level + kSame);
      if (near != jobs_.end() && near->first > level - kSame) level = near->first;
      if (level > kSame) jobs_[level] += group.count;
    }
    span -= step;
  }
}

double Levels::rest() const {
  double sum = 0;
  for (const auto& [level, count] : jobs_) sum += level * count;
  return jobs_.empty() ? 0 : std::max(jobs_.begin()->first, sum / machines_);
}

}  // namespace

double least_makespan(const Instance& instance) {
  Levels levels(instance.gpus);
  double now = 0;
  double alone = 0;
  for (const BoundJob& job : instance.jobs) {
    levels.serve(job.release - now);
    now = job.release;
    levels.add(job.least_work(instance.modes) * kWorkAsked / instance.compute_slices);
    alone = std::max(alone, job.release + job.fastest() * kWorkAsked);
  }
  return std::max(now + levels.rest(), alone) * kCaution;
}

}  // namespace partita::bounds
