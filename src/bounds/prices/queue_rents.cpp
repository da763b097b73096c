#include "bounds/prices/queue_rents.h"

#include <algorithm>

namespace partita::bounds {
namespace {

struct Served {
  double begin = 0;
  double end = 0;
  bool late = false;
};

// Jobs one after another, each with the whole fleet. No schedule has to look like this: it only
// says where the queue is long, and any prices prove a bound.
std::vector<Served> serve(const Problem& problem) {
  const double speed = static_cast<double>(problem.compute_slices) * problem.gpus;
  std::vector<Served> served;
  std::vector<const BoundJob*> waiting;
  std::size_t next = 0;
  double now = 0;
  while (next < problem.jobs.size() || !waiting.empty()) {
    if (waiting.empty()) now = std::max(now, problem.jobs[next].release);
    while (next < problem.jobs.size() && problem.jobs[next].release <= now) {
      waiting.push_back(&problem.jobs[next++]);
    }
    const auto end_of = [&](const BoundJob* job) {
      return now + job->least_work(problem.modes) / speed;
    };
    const auto first = std::ranges::min_element(
        waiting, {}, [&](const BoundJob* job) { return std::max(job->due, end_of(job)); });
    const double end = end_of(*first);
    served.push_back({now, end, end > (*first)->due});
    waiting.erase(first);
    now = end;
  }
  return served;
}

}  // namespace

std::vector<double> queue_rents(const Problem& problem, const PriceGrid& grid) {
  const std::vector<Served> served = serve(problem);
  std::vector<double> rents(grid.intervals(), 0);
  // From the last to the first: how many late jobs follow without a break.
  double late = 0;
  for (std::size_t i = served.size(); i-- > 0;) {
    if (i + 1 < served.size() && served[i].end < served[i + 1].begin) late = 0;
    late += served[i].late ? 1 : 0;
    for (std::size_t k = grid.find(served[i].begin); k < grid.tail(); ++k) {
      if (grid.begin(k) >= served[i].end) break;
      rents[k] = std::max(rents[k], late / problem.gpus);
    }
  }
  return rents;
}

}  // namespace partita::bounds
