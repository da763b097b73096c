#include "sim/rollout.h"

#include <algorithm>

namespace partita::sim {

RunOptions Rollout::quiet(RunOptions options) {
  options.estimate_error = 0;  // a forecast knows no more than the policy
  options.keep_jobs = false;
  options.keep_schedule = false;
  options.keep_layouts = false;
  return options;
}

decide::ForecastCost Rollout::forecast(std::span<const decide::LayoutRequest> requests,
                                       std::span<const workload::Job> arrivals, Micros until) {
  copy_.copy_position(origin_);
  copy_.set_arrivals(arrivals, JobId{static_cast<std::uint32_t>(origin_.arrived())});
  copy_.world.meter.close(origin_.world.now);
  const double joules_before = copy_.world.meter.joules(*options_.power);
  for (const decide::LayoutRequest& request : requests) {
    copy_.changes.request(request.gpu, request.layout);
  }
  copy_.decide();
  for (Micros next = copy_.next_event(); next <= until; next = copy_.next_event()) {
    copy_.advance_to(next);
    copy_.decide();
    if (copy_.world.jobs.size() == 0 && !copy_.arrivals_left()) break;
  }
  const Micros end = std::min(until, copy_.world.now);
  copy_.world.meter.close(end);
  decide::ForecastCost cost;
  const double idle_w = options_.power->watts.front() * options_.gpus;
  cost.energy_j = copy_.world.meter.joules(*options_.power) - joules_before -
                  idle_w * (end - origin_.world.now).to_seconds();
  cost.tardiness_s = copy_.world.tally.tardiness_sum().to_seconds();
  cost.events = copy_.world.counts.events;
  add_unfinished(cost, end);
  return cost;
}

// What is left at the end is charged at its least: the tardiness of going on at once as fast as can
// be, and the energy of that at full width; or leaving work undone would look cheap.
void Rollout::add_unfinished(decide::ForecastCost& cost, Micros until) const {
  const double full_watts = options_.power->watts.back();
  for (std::uint32_t i = 0; i < copy_.world.jobs.handles_end(); ++i) {
    const cluster::JobHandle handle{i};
    if (!copy_.world.jobs.present(handle)) continue;
    const decide::ActiveJob& job = copy_.world.jobs[handle];
    const double left_us = job.work_at(until) * job.fastest_time();
    const double done_us =
        job.running() ? static_cast<double>((job.finish - until).count) : left_us;
    const double late_us = static_cast<double>((until - job.deadline).count) + done_us;
    cost.tardiness_s += std::max(0.0, late_us) * 1e-6;
    cost.energy_j += full_watts * left_us * 1e-6;
  }
}

}  // namespace partita::sim
