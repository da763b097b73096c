#include "sim/what_if.h"

#include <algorithm>

namespace partita::sim {
namespace {

// Draining what is there ends at the latest so long after; then the rest is charged at its least.
constexpr Micros kDrainMax = Micros::seconds(30 * 86'400);

RunOptions options_of(const RunOptions& origin, std::size_t gpus) {
  RunOptions options = origin;
  if (gpus > 0) options.gpus = static_cast<std::uint32_t>(gpus);
  options.estimate_error = 0;  // it knows no more than the policy
  options.keep_jobs = options.keep_schedule = options.keep_layouts = false;
  return options;
}

}  // namespace

WhatIf::WhatIf(const Clockwork& origin, std::span<const GpuId> gpus, decide::Scheduler& scheduler)
    : options_(options_of(origin.world.options, gpus.size())),
      origin_(origin.world),
      scheduler_(scheduler),
      clock_(std::make_unique<Clockwork>(options_, scheduler)),
      other_(std::make_unique<Clockwork>(options_, scheduler)),
      next_id_(origin.next_id()) {
  if (gpus.empty()) {
    clock_->copy_position(origin);
  } else {
    clock_->copy_part(origin, gpus);
  }
  joules_ = -joules(*clock_, clock_->world.now);
}

// Since time 0, or since whatever the meter began with.
double WhatIf::joules(Clockwork& clock, Micros until) const {
  clock.world.meter.close(until);
  return clock.world.meter.joules(*options_.power);
}

// None may come before what has been simulated.
void WhatIf::add_job(const workload::Job& job) {
  jobs_.push_back(origin_.as_expected(job));
  jobs_.back().arrival = std::max(job.arrival, clock_->world.now);
}

void WhatIf::ask_and_decide(Clockwork& clock) {
  while (!requests_.empty() && requests_.front().at <= clock.world.now) {
    clock.changes.request(requests_.front().request.gpu, requests_.front().request.layout);
    requests_.pop_front();
  }
  clock.decide();
}

// All that happens up to now, with what is asked for at its time. It is made, and stops, in the
// middle of an instant: what is said next may belong to that one, so its decision is still to come.
void WhatIf::run_up_to(Clockwork& clock, Micros now) {
  while (clock.world.now < now) {
    ask_and_decide(clock);
    Micros next = std::min(clock.next_event(), now);
    if (!requests_.empty()) next = std::min(next, requests_.front().at);
    clock.advance_to(next);
  }
}

void WhatIf::run_to(Micros now) {
  Clockwork& clock = *other_;
  clock.copy_position(*clock_);
  clock.set_arrivals(jobs_, next_id_);
  run_up_to(clock, now);
  next_id_ = clock.next_id();
  clock.set_arrivals({}, next_id_);
  jobs_.clear();
  tardiness_ += clock.world.tally.tardiness_sum();
  std::swap(clock_, other_);
}

decide::WhatIfCost WhatIf::cost_until(Micros now, std::span<const mig::Layout> then) {
  run_to(now);
  Clockwork& drained = *other_;
  drained.copy_position(*clock_);
  drained.set_arrivals({}, next_id_);
  for (std::uint32_t gpu = 0; gpu < then.size(); ++gpu) {
    drained.changes.request(GpuId{gpu}, then[gpu]);
  }
  drained.decide();
  const Micros until = now + kDrainMax;
  while (drained.world.jobs.size() > 0 && drained.next_event() <= until) {
    drained.advance_to(drained.next_event());
    drained.decide();
  }
  const Micros end = drained.world.now;
  decide::WhatIfCost cost;
  cost.energy_j = joules_ + joules(drained, end);
  cost.tardiness_s = (tardiness_ + drained.world.tally.tardiness_sum()).to_seconds();
  for (std::uint32_t i = 0; i < drained.world.jobs.handles_end(); ++i) {
    const cluster::JobHandle handle{i};
    if (!drained.world.jobs.present(handle)) continue;
    const decide::ActiveJob& job = drained.world.jobs[handle];
    if (job.endless()) continue;  // somebody else has the slice
    const double left_s = job.work_at(end) * job.fastest_time() * 1e-6;
    cost.tardiness_s += std::max(0.0, (end - job.deadline).to_seconds() + left_s);
  }
  return cost;
}

}  // namespace partita::sim
