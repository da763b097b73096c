#include "experiment/bound_windows.h"

#include "bounds/exact/window_optimum.h"
#include "bounds/report.h"

namespace partita::experiment {
namespace {

workload::Trace cut(const workload::Trace& trace, std::size_t first, std::size_t jobs) {
  workload::Trace window;
  window.class_names = trace.class_names;
  const Micros begin = trace.jobs[first].arrival;
  for (std::size_t i = first; i < first + jobs; ++i) {
    workload::Job job = trace.jobs[i];
    job.arrival = job.arrival - begin;
    job.deadline = job.deadline - begin;
    window.add(job, trace.id(JobId{static_cast<std::uint32_t>(i)}));
  }
  return window;
}

Result<WindowBounds> bounds_of(const workload::Trace& window, const bounds::Fleet& fleet,
                               const WindowsLimit& limit,
                               const std::function<double()>& seconds_left) {
  const auto problem = bounds::make_problem(window, fleet);
  if (!problem) return problem.error();
  bounds::Request request;
  request.kinds = {bounds::Kind::kTardiness};
  request.use_mip = false;
  request.runs = bounds::Runs::kWhole;
  request.seconds_max = seconds_left();
  request.clock = limit.clock;
  const bounds::BoundReport report = bounds::find_bounds(*problem, request);
  WindowBounds found;
  bounds::PriceGrid prices;
  for (const bounds::Bound& bound : report.bounds) {
    if (bound.name == "prices") found.prices_s = bound.value;
    if (bound.name != bounds::kNonPreemptive) continue;
    found.non_preemptive_s = bound.value;
    prices = *bound.prices;
  }
  found.bound_s = report.best(bounds::Kind::kTardiness)->value;
  const auto optimum =
      bounds::window_optimum(*problem, *fleet.model, prices, {.seconds_left = seconds_left});
  if (!optimum) return optimum.error();
  found.optimum_s = optimum->total_s / static_cast<double>(window.jobs.size());
  found.optimum_proven = optimum->proven;
  return found;
}

}  // namespace

ComparedWindows::Sums ComparedWindows::sums() const {
  Sums sums;
  for (const WindowBounds& window : windows) {
    if (!window.optimum_proven) {
      ++sums.unproven;
    } else if (window.on_time()) {
      ++sums.on_time;
    } else {
      ++sums.windows;
      sums.prices_s += window.prices_s;
      sums.non_preemptive_s += window.non_preemptive_s;
      sums.bound_s += window.bound_s;
      sums.optimum_s += window.optimum_s;
    }
  }
  return sums;
}

Result<ComparedWindows> window_bounds(const workload::Trace& trace, const bounds::Fleet& fleet,
                                      std::size_t jobs, const WindowsLimit& limit) {
  bounds::Fleet alone = fleet;
  alone.horizon = Micros{};
  const double until = limit.clock() + limit.seconds_max;
  const auto seconds_left = [&] { return until - limit.clock(); };
  ComparedWindows compared{jobs, trace.jobs.size() / jobs, {}};
  for (std::size_t i = 0; i < compared.total && seconds_left() > 0; ++i) {
    auto found = bounds_of(cut(trace, i * jobs, jobs), alone, limit, seconds_left);
    if (!found) return found.error();
    found->first_job = i * jobs;
    compared.windows.push_back(*found);
  }
  return compared;
}

}  // namespace partita::experiment
