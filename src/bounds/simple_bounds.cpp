#include "bounds/simple_bounds.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "bounds/makespan.h"
#include "bounds/rounding.h"

namespace partita::bounds {
namespace {

// Exact for any trace: 2^127 ticks of a millionth of a microsecond are more than the age of the
// world.
__extension__ typedef __int128 Ticks;

constexpr double kMicrosPerSecond = 1e6;

// Shortest remaining first on one machine. Work is in compute-slice microseconds; a tick is the
// time of one of them, so that everything is whole.
std::vector<Ticks> completions(const Instance& instance, Ticks speed) {
  std::priority_queue<Ticks, std::vector<Ticks>, std::greater<>> waiting;
  std::vector<Ticks> done;
  Ticks now = 0;
  const auto run_until = [&](Ticks until) {
    while (!waiting.empty() && now < until) {
      const Ticks work = waiting.top();
      waiting.pop();
      if (now + work <= until) {
        now += work;
        done.push_back(now);
      } else {
        waiting.push(work - (until - now));
        now = until;
      }
    }
    now = std::max(now, until);
  };
  Ticks all = 0;
  for (const BoundJob& job : instance.jobs) {
    run_until(static_cast<Ticks>(job.release) * speed);
    const auto work = static_cast<Ticks>(job.least_work(instance.modes) * kWorkAsked);
    waiting.push(work);
    all += work;
  }
  run_until(now + all + 1);
  return done;
}

double seconds_below(Ticks ticks, Ticks speed) {
  return over_below(below(static_cast<double>(ticks)),
                    above(static_cast<double>(speed)) * kMicrosPerSecond);
}

}  // namespace

double idle_energy_j(const Instance& instance) {
  const double seconds =
      over_below(std::max(instance.horizon, least_makespan(instance)), kMicrosPerSecond);
  return times_below(times_below(instance.idle_watts, instance.gpus), seconds);
}

double linear_energy_j(const Instance& instance) {
  double work = 0;
  for (const BoundJob& job : instance.jobs) {
    work = add_below(work, job.least_work(instance.modes));
  }
  const double watts = below(below(least_watts_per_slice(instance)));
  const double seconds = over_below(times_below(work, kWorkAsked), kMicrosPerSecond);
  return add_below(times_below(watts, seconds), idle_energy_j(instance));
}

double fastest_tardiness_s(const Instance& instance) {
  Ticks total = 0;
  for (const BoundJob& job : instance.jobs) {
    const auto shortest = static_cast<Ticks>(job.fastest() * kWorkAsked);
    const Ticks late = static_cast<Ticks>(job.release - job.due) + shortest;
    total += std::max<Ticks>(0, late);
  }
  return seconds_below(total, 1);
}

double matching_tardiness_s(const Instance& instance) {
  const Ticks speed = static_cast<Ticks>(instance.compute_slices) * instance.gpus;
  const std::vector<Ticks> done = completions(instance, speed);
  std::vector<double> dues;
  for (const BoundJob& job : instance.jobs) dues.push_back(job.due);
  std::ranges::sort(dues);
  Ticks total = 0;
  for (std::size_t i = 0; i < done.size(); ++i) {
    total += std::max<Ticks>(0, done[i] - static_cast<Ticks>(dues[i]) * speed);
  }
  return seconds_below(total, speed);
}

}  // namespace partita::bounds
