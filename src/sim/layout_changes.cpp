#include "sim/layout_changes.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace partita::sim {

LayoutChanges::LayoutChanges(World& world, const decide::View& view, decide::PolicyDriver& policies)
    : world_(world), view_(view), policies_(policies), stepper_(world.cluster) {}

void LayoutChanges::copy_state(const LayoutChanges& other) {
  for (std::uint32_t i = 0; i < world_.cluster.gpu_count(); ++i) {
    stepper_.resume(GpuId{i}, other.stepper_.target(GpuId{i}), other.stepper_.step(GpuId{i}));
  }
  steps_ = other.steps_;
  under_way_ = other.under_way_;
  changed_ = other.changed_;
}

void LayoutChanges::copy_part(const LayoutChanges& other, std::span<const GpuId> gpus) {
  changed_ = other.changed_;
  under_way_ = 0;
  steps_ = {};
  for (std::uint32_t i = 0; i < gpus.size(); ++i) {
    stepper_.resume(GpuId{i}, other.stepper_.target(gpus[i]), other.stepper_.step(gpus[i]));
    under_way_ += stepper_.target(GpuId{i}) ? 1U : 0U;
  }
  for (auto steps = other.steps_; !steps.empty(); steps.pop()) {
    const auto at = std::lower_bound(gpus.begin(), gpus.end(), steps.top().gpu);
    if (at == gpus.end() || *at != steps.top().gpu) continue;
    steps_.push({steps.top().time, GpuId{static_cast<std::uint32_t>(at - gpus.begin())}});
  }
}

void LayoutChanges::take_courses(const cluster::ClusterState& seen,
                                 std::span<const decide::LayoutCourse> courses) {
  CHECK(courses.size() == world_.cluster.gpu_count());
  under_way_ = 0;
  steps_ = {};
  for (std::uint32_t i = 0; i < courses.size(); ++i) {
    stepper_.resume(GpuId{i}, courses[i].target, {});
    under_way_ += courses[i].target ? 1U : 0U;
    take_step(GpuId{i}, seen, courses[i].step_began);
    advance(GpuId{i});
  }
  changed_ = false;
}

// A GPU makes or unmakes one instance at a time; were there more, the others are done now.
void LayoutChanges::take_step(GpuId gpu, const cluster::ClusterState& seen, Micros began) {
  const mig::GpuModel& model = *seen.model;
  for (const mig::Placement placement : seen.gpus[gpu.value].layout.instances()) {
    const cluster::SliceState state = seen.slice(cluster::slice_id(gpu, placement.start)).state;
    const bool create = state == cluster::SliceState::kCreating;
    if (!create && state != cluster::SliceState::kDestroying) continue;
    if (stepper_.step(gpu)) end_step(gpu);
    const mig::ChangeSeconds& seconds = model.change_seconds[placement.profile];
    const mig::ChangeStep step{
        create ? mig::ChangeStep::Kind::kCreate : mig::ChangeStep::Kind::kDestroy, placement,
        micros_from_seconds(create ? seconds.create : seconds.destroy)};
    stepper_.resume(gpu, stepper_.target(gpu), step);
  }
  if (!stepper_.step(gpu)) return;
  steps_.push({std::max(world_.now, began + stepper_.step(gpu)->duration), gpu});
}

bool LayoutChanges::take_changed() {
  return std::exchange(changed_, false);
}

void LayoutChanges::request(GpuId gpu, const mig::Layout& target) {
  if (stepper_.aim(gpu) == target) return;
  ++world_.counts.repartitions;
  if (world_.options.repartition_cost == RepartitionCost::kPaper) penalise_running(gpu);
  if (!stepper_.target(gpu)) ++under_way_;
  const bool marked = stepper_.turn_to(
      gpu, target, [](SliceId, bool in_target) { return in_target; },
      [this](SliceId slice) { preempt_on(slice); });
  changed_ = changed_ || marked;
  advance(gpu);
}

// SMART-MIG charges a change by taking 4 s off deadlines; here off those of the jobs running on the
// GPU that changes, since they are the ones a real change would delay.
void LayoutChanges::penalise_running(GpuId gpu) {
  for (const mig::Placement placement : world_.cluster.gpus[gpu.value].layout.instances()) {
    const cluster::Slice& slice = world_.cluster.slice(cluster::slice_id(gpu, placement.start));
    if (slice.state != cluster::SliceState::kBusy) continue;
    policies_.withdraw(view_, slice.job);
    world_.jobs[slice.job].deadline -= kPaperRepartitionPenalty;
    world_.jobs[slice.job].forget_on_time();
    policies_.put_back(view_, slice.job);
  }
}

void LayoutChanges::preempt_on(SliceId id) {
  const cluster::Slice& slice = world_.cluster.slice(id);
  if (slice.state != cluster::SliceState::kBusy) return;
  const JobHandle job = slice.job;
  if (!world_.options.preemption.allows(world_.jobs[job])) return;
  world_.interrupt(job);
  policies_.job_stopped(view_, job);
}

void LayoutChanges::advance(GpuId gpu) {
  while (stepper_.target(gpu) && !stepper_.step(gpu)) {
    const auto step = stepper_.next_step(gpu, [](SliceId) { return true; });
    if (!stepper_.target(gpu)) --under_way_;
    if (!step) return;
    begin_step(gpu, *step);
  }
}

void LayoutChanges::begin_step(GpuId gpu, const mig::ChangeStep& step) {
  stepper_.begin(gpu, step);
  changed_ = true;
  if (step.kind == mig::ChangeStep::Kind::kDestroy) world_.log_layout(gpu);
  if (world_.options.repartition_cost == RepartitionCost::kPaper) return end_step(gpu);
  steps_.push({world_.now + step.duration, gpu});
}

void LayoutChanges::end_step(GpuId gpu) {
  const bool create = stepper_.step(gpu)->kind == mig::ChangeStep::Kind::kCreate;
  stepper_.finish(gpu);
  changed_ = true;
  ++(create ? world_.counts.instances_created : world_.counts.instances_destroyed);
  if (create) world_.log_layout(gpu);
}

void LayoutChanges::finish_step() {
  const GpuId gpu = steps_.top().gpu;
  CHECK(steps_.top().time == world_.now);
  steps_.pop();
  end_step(gpu);
  advance(gpu);
}

}  // namespace partita::sim
