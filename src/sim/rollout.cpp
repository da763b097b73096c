#include "sim/rollout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "sim/what_if.h"

namespace partita::sim {
namespace {

// Events between two looks at the limit: a look costs about as much as an event.
constexpr int kEventsPerLook = 24;

// Sums are formed in another order in a bound than in the cost itself.
constexpr double kRounding = 1e-9;

double watts_a_slice_min(const mig::PowerCurve& power) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t level = 1; level < power.watts.size(); ++level) {
    const double above_idle = power.watts[level] - power.watts.front();
    least = std::min(least, above_idle / static_cast<double>(level));
  }
  return std::isfinite(least) ? least : 0;
}

}  // namespace

Rollout::Rollout(const Clockwork& origin, const RunOptions& options, decide::Scheduler& scheduler)
    : origin_(origin),
      scheduler_(scheduler),
      watts_a_slice_min_(watts_a_slice_min(*options.power)) {}

std::unique_ptr<decide::WhatIfRun> Rollout::what_if_run(std::span<const GpuId> gpus) {
  return std::make_unique<WhatIf>(origin_, gpus, scheduler_);
}

void Rollout::take_copy(std::span<const GpuId> gpus) {
  const RunOptions& origin = origin_.world.options;
  const std::uint32_t count = gpus.empty() ? origin.gpus : static_cast<std::uint32_t>(gpus.size());
  if (!copy_ || copy_->options.gpus != count) {
    RunOptions options = origin;
    options.gpus = count;
    options.estimate_error = 0;  // a forecast knows no more than the policy
    options.keep_jobs = false;
    options.keep_schedule = false;
    options.keep_layouts = false;
    copy_ = std::make_unique<Copy>(std::move(options), scheduler_);
  }
  if (gpus.empty()) {
    copy_->clock.copy_position(origin_);
  } else {
    copy_->clock.copy_part(origin_, gpus);
  }
}

void Rollout::begin(const decide::ForecastQuestion& question) {
  take_copy(question.gpus);
  Clockwork& clock = copy_->clock;
  const std::span<const workload::Job> arrivals = as_expected(question.arrivals);
  clock.set_arrivals(arrivals, origin_.next_id());
  clock.world.meter.close(clock.world.now);
  joules_before_ = clock.world.meter.joules(*copy_->options.power);
  for (const decide::LayoutRequest& request : question.requests) {
    const auto at = std::lower_bound(question.gpus.begin(), question.gpus.end(), request.gpu);
    CHECK(question.gpus.empty() || (at != question.gpus.end() && *at == request.gpu));
    const auto index = static_cast<std::uint32_t>(at - question.gpus.begin());
    clock.changes.request(question.gpus.empty() ? request.gpu : GpuId{index}, request.layout);
  }
  if (question.limit) sum_joules_to_come(arrivals);
}

std::span<const workload::Job> Rollout::as_expected(std::span<const workload::Job> arrivals) {
  if (origin_.world.newcomer_length() == 1) return arrivals;
  arrivals_.clear();
  for (const workload::Job& job : arrivals) arrivals_.push_back(origin_.world.as_expected(job));
  return arrivals_;
}

void Rollout::sum_joules_to_come(std::span<const workload::Job> arrivals) {
  joules_to_come_.assign(arrivals.size() + 1, 0);
  for (std::size_t i = arrivals.size(); i-- > 0;) {
    std::array<double, workload::kSliceSizeCount> time_us;
    for (std::size_t size = 0; size < time_us.size(); ++size) {
      const Micros time = arrivals[i].time[size];
      time_us[size] = time == workload::kNoTime ? std::numeric_limits<double>::infinity()
                                                : static_cast<double>(time.count);
    }
    joules_to_come_[i] = joules_to_come_[i + 1] + least_joules(time_us);
  }
}

decide::ForecastCost Rollout::forecast(const decide::ForecastQuestion& question) {
  begin(question);
  Clockwork& clock = copy_->clock;
  clock.decide();
  int events_to_look = kEventsPerLook;
  for (Micros next = clock.next_event(); next <= question.until; next = clock.next_event()) {
    clock.advance_to(next);
    clock.decide();
    if (clock.world.jobs.size() == 0 && !clock.arrivals_left()) break;
    if (!question.limit || --events_to_look > 0) continue;
    events_to_look = kEventsPerLook;
    if (certain_to_exceed(*question.limit)) {
      return {.end = clock.world.now, .events = clock.world.counts.events, .over_limit = true};
    }
  }
  const Micros end = std::min(question.until, clock.world.now);
  decide::ForecastCost cost = cost_so_far(end);
  cost.end = end;
  add_unfinished(cost, end);
  return cost;
}

decide::ForecastCost Rollout::cost_so_far(Micros now) {
  copy_->clock.world.meter.close(now);
  const double idle_w = copy_->options.power->watts.front() * copy_->options.gpus;
  decide::ForecastCost cost;
  cost.energy_j = copy_->clock.world.meter.joules(*copy_->options.power) - joules_before_ -
                  idle_w * (now - origin_.world.now).to_seconds();
  cost.tardiness_s = copy_->clock.world.tally.tardiness_sum().to_seconds();
  cost.events = copy_->clock.world.counts.events;
  return cost;
}

// What is left at the end is charged at its least: the tardiness of going on at once as fast as can
// be, and the energy of that at full width; or leaving work undone would look cheap.
void Rollout::add_unfinished(decide::ForecastCost& cost, Micros until) const {
  const double full_watts = copy_->options.power->watts.back();
  for (std::uint32_t i = 0; i < copy_->clock.world.jobs.handles_end(); ++i) {
    const cluster::JobHandle handle{i};
    if (!copy_->clock.world.jobs.present(handle)) continue;
    const decide::ActiveJob& job = copy_->clock.world.jobs[handle];
    const double left_us = job.work_at(until) * job.fastest_time();
    const double done_us =
        job.running() ? static_cast<double>((job.finish - until).count) : left_us;
    const double late_us = static_cast<double>((until - job.deadline).count) + done_us;
    cost.tardiness_s += std::max(0.0, late_us) * 1e-6;
    cost.energy_j += full_watts * left_us * 1e-6;
  }
}

// The energy of a whole job on the size that needs least, if every slice drew as little as it can.
double Rollout::least_joules(std::span<const double> time_us) const {
  double slice_us = std::numeric_limits<double>::infinity();
  for (std::size_t size = 0; size < time_us.size(); ++size) {
    slice_us = std::min(slice_us, time_us[size] * workload::kSliceSizes[size]);
  }
  return watts_a_slice_min_ * slice_us * 1e-6;
}

// Cost so far, and of all work to come the least: no slice draws less than its share, no job
// present is done before it could be on the fastest slice.
bool Rollout::certain_to_exceed(const decide::CostLimit& limit) {
  if (watts_a_slice_min_ < 0) return false;
  const Micros now = copy_->clock.world.now;
  decide::ForecastCost least = cost_so_far(now);
  least.energy_j += joules_to_come_[copy_->clock.arrived()];
  for (std::uint32_t i = 0; i < copy_->clock.world.jobs.handles_end(); ++i) {
    const cluster::JobHandle handle{i};
    if (!copy_->clock.world.jobs.present(handle)) continue;
    const decide::ActiveJob& job = copy_->clock.world.jobs[handle];
    const double work = job.work_at(now);
    const double late_us =
        static_cast<double>((now - job.deadline).count) + work * job.fastest_time();
    least.tardiness_s += std::max(0.0, late_us) * 1e-6;
    least.energy_j += work * least_joules(job.time);
  }
  const double cost = limit.per_joule * least.energy_j + limit.per_tardy_second * least.tardiness_s;
  return cost > limit.cost * (1 + kRounding);
}

}  // namespace partita::sim
