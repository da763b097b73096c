#include "sim/clockwork.h"

#include <algorithm>

namespace partita::sim {

Clockwork::Clockwork(const RunOptions& options, decide::Scheduler& scheduler,
                     decide::Repartitioner* repartitioner)
    : world(options),
      view{.now = Micros{},
           .cluster = world.cluster,
           .jobs = world.jobs,
           .preemption = options.preemption,
           .power = *options.power,
           .et_a = options.et_a,
           .forecaster = nullptr},
      policies(scheduler, repartitioner),
      changes(world, view, policies),
      fits_(*options.model) {}

void Clockwork::set_arrivals(std::span<const workload::Job> arrivals, JobId first) {
  arrivals_ = arrivals;
  first_id_ = first;
  next_arrival_ = 0;
}

Micros Clockwork::next_event() const {
  Micros next = world.completions.first_time();
  if (arrivals_left()) next = std::min(next, arrivals_[next_arrival_].arrival);
  return std::min(next, changes.next_finish());
}

void Clockwork::complete_due() {
  while (world.completions.first_time() == world.now) {
    const JobHandle job = world.completions.first_job();
    if (world.outlived_estimate(job)) {
      policies.withdraw(view, job);
      world.extend_estimate(job);
      policies.put_back(view, job);
      continue;
    }
    const SliceId slice = world.jobs[job].slice;
    world.completions.remove_first();
    if (world.due_for_memory(job)) {
      restart_larger(job);
    } else {
      world.complete(job);
      world.meter_gpu(cluster::gpu_of(slice));
      policies.job_done(view, job);
      world.jobs.remove(job);
    }
    if (changes.under_way()) freed_.push_back(cluster::gpu_of(slice));
    ++world.counts.events;
  }
  // After all of them, so that which change goes on does not depend on the order of completions.
  for (const GpuId gpu : freed_) changes.resume(gpu);
  freed_.clear();
}

// What the job needs changes, and with it its place in the scheduler's books.
void Clockwork::restart_larger(JobHandle job) {
  policies.withdraw(view, job);
  world.restart_larger(job);
  policies.job_returned(view, job);
  jobs_left_slices_ = true;
}

void Clockwork::arrive_due() {
  while (arrivals_left() && arrivals_[next_arrival_].arrival == world.now) {
    const workload::Job& job = arrivals_[next_arrival_];
    const JobId id = next_id();
    const std::uint16_t fits = fits_(job);
    if (fits == 0 || !world.memory.has_room(job, id)) {
      unplaceable_ = id;
      return;
    }
    policies.job_arrived(view, world.add_job(job, id, fits));
    ++next_arrival_;
    ++world.counts.events;
  }
}

void Clockwork::advance_to(Micros now) {
  world.now = view.now = now;
  complete_due();
  while (changes.next_finish() == now) {
    changes.finish_step();
    ++world.counts.events;
  }
  arrive_due();
}

bool Clockwork::repartition() {
  return policies.repartition(
      view, world.counts.events,
      [this](const decide::LayoutRequest& asked) { changes.request(asked.gpu, asked.layout); });
}

void Clockwork::decide() {
  const bool layouts_changed = changes.take_changed() || jobs_left_slices_;
  jobs_left_slices_ = false;
  const decide::Decision& decision = policies.decide(view, layouts_changed);
  ++world.counts.decisions;
  if (!decision.moves.empty()) world.carry_out(decision.moves);
}

void Clockwork::copy_position(const Clockwork& other) {
  world.copy_position(other.world);
  view.now = world.now;
  changes.copy_state(other.changes);
  tell_scheduler();
}

void Clockwork::copy_part(const Clockwork& other, std::span<const GpuId> gpus) {
  world.copy_part(other.world, gpus);
  view.now = world.now;
  changes.copy_part(other.changes, gpus);
  tell_scheduler();
}

void Clockwork::take_view(const decide::View& seen, std::span<const decide::LayoutCourse> courses,
                          std::size_t waiting_max, const decide::Outlook& outlook) {
  const JobId last = world.take_view(seen, waiting_max, outlook);
  view.now = world.now;
  changes.take_courses(seen.cluster, courses);
  set_arrivals({}, JobId{last.valid() ? last.value + 1 : 0});
}

void Clockwork::tell_scheduler() {
  policies.begin(view);
  for (std::uint32_t i = 0; i < world.jobs.handles_end(); ++i) {
    if (world.jobs.present(JobHandle{i})) policies.put_back(view, JobHandle{i});
  }
}

}  // namespace partita::sim
