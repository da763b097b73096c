#include "sim/layout_changes.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace partita::sim {
namespace {

using Kind = cluster::Action::Kind;

}  // namespace

LayoutChanges::LayoutChanges(World& world, const decide::View& view, decide::PolicyDriver& policies)
    : world_(world), view_(view), policies_(policies), gpus_(world.cluster.gpu_count()) {}

void LayoutChanges::copy_state(const LayoutChanges& other) {
  gpus_ = other.gpus_;
  steps_ = other.steps_;
  under_way_ = other.under_way_;
  changed_ = other.changed_;
}

void LayoutChanges::copy_part(const LayoutChanges& other, std::span<const GpuId> gpus) {
  changed_ = other.changed_;
  under_way_ = 0;
  steps_ = {};
  for (std::uint32_t i = 0; i < gpus.size(); ++i) {
    gpus_[i] = other.gpus_[gpus[i].value];
    under_way_ += gpus_[i].target ? 1U : 0U;
  }
  for (auto steps = other.steps_; !steps.empty(); steps.pop()) {
    const auto at = std::lower_bound(gpus.begin(), gpus.end(), steps.top().gpu);
    if (at == gpus.end() || *at != steps.top().gpu) continue;
    steps_.push({steps.top().time, GpuId{static_cast<std::uint32_t>(at - gpus.begin())}});
  }
}

void LayoutChanges::take_courses(const cluster::ClusterState& seen,
                                 std::span<const decide::LayoutCourse> courses) {
  CHECK(courses.size() == gpus_.size());
  under_way_ = 0;
  steps_ = {};
  for (std::uint32_t i = 0; i < courses.size(); ++i) {
    gpus_[i] = {courses[i].target, false, {}};
    under_way_ += courses[i].target ? 1U : 0U;
    take_step(GpuId{i}, seen, courses[i].step_began);
    advance(GpuId{i});
  }
  changed_ = false;
}

// A GPU makes or unmakes one instance at a time; were there more, the others are done now.
void LayoutChanges::take_step(GpuId gpu, const cluster::ClusterState& seen, Micros began) {
  const mig::GpuModel& model = *seen.model;
  GpuChange& change = gpus_[gpu.value];
  for (const mig::Placement placement : seen.gpus[gpu.value].layout.instances()) {
    const cluster::SliceState state = seen.slice(cluster::slice_id(gpu, placement.start)).state;
    const bool create = state == cluster::SliceState::kCreating;
    if (!create && state != cluster::SliceState::kDestroying) continue;
    if (change.in_step) end_step(gpu);
    const mig::ChangeSeconds& seconds = model.change_seconds[placement.profile];
    change.in_step = true;
    change.step = {create ? mig::ChangeStep::Kind::kCreate : mig::ChangeStep::Kind::kDestroy,
                   placement, micros_from_seconds(create ? seconds.create : seconds.destroy)};
  }
  if (!change.in_step) return;
  steps_.push({std::max(world_.now, began + change.step.duration), gpu});
}

bool LayoutChanges::take_changed() {
  return std::exchange(changed_, false);
}

void LayoutChanges::request(GpuId gpu, const mig::Layout& target) {
  GpuChange& change = gpus_[gpu.value];
  if (this->target(gpu) == target) return;
  ++world_.counts.repartitions;
  if (world_.options.repartition_cost == RepartitionCost::kPaper) penalise_running(gpu);
  if (!change.target) ++under_way_;
  change.target = target;
  mark_unwanted(gpu, target);
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

void LayoutChanges::mark_unwanted(GpuId gpu, const mig::Layout& target) {
  const mig::Layout present = world_.cluster.gpus[gpu.value].layout;
  for (const mig::Placement placement : present.instances()) {
    const SliceId id = cluster::slice_id(gpu, placement.start);
    const bool wanted = target.contains(placement);
    const cluster::Slice& slice = world_.cluster.slice(id);
    if (slice.closing == wanted) {
      cluster::apply(
          world_.cluster,
          {.kind = wanted ? Kind::kReopen : Kind::kClose, .slice = id, .job = {}, .profile = 0});
      changed_ = true;
    }
    if (!wanted && slice.state == cluster::SliceState::kBusy &&
        world_.options.preemption.allows(world_.jobs[slice.job])) {
      const JobHandle job = slice.job;
      world_.interrupt(job);
      policies_.job_stopped(view_, job);
    }
  }
}

void LayoutChanges::advance(GpuId gpu) {
  GpuChange& change = gpus_[gpu.value];
  while (change.target && !change.in_step) {
    const mig::Layout& present = world_.cluster.gpus[gpu.value].layout;
    if (present == *change.target) {
      change.target.reset();
      --under_way_;
      return;
    }
    const std::optional<mig::ChangeStep> step = startable_step(gpu, *change.target);
    if (!step) return;
    begin_step(gpu, *step);
  }
}

// The first step of the smallest change that can begin now: an idle instance to destroy, or one to
// create whose memory slices are free.
std::optional<mig::ChangeStep> LayoutChanges::startable_step(GpuId gpu,
                                                             const mig::Layout& target) const {
  const mig::GpuModel& model = *world_.cluster.model;
  const mig::Layout& present = world_.cluster.gpus[gpu.value].layout;
  for (const mig::ChangeStep& step : mig::smallest_change(model, present, target).steps) {
    if (step.kind == mig::ChangeStep::Kind::kCreate) {
      if (mig::fits(model, present, step.placement)) return step;
      continue;
    }
    const SliceId slice = cluster::slice_id(gpu, step.placement.start);
    if (world_.cluster.slice(slice).state == cluster::SliceState::kIdle) return step;
  }
  return {};
}

void LayoutChanges::begin_step(GpuId gpu, const mig::ChangeStep& step) {
  GpuChange& change = gpus_[gpu.value];
  const bool create = step.kind == mig::ChangeStep::Kind::kCreate;
  const SliceId slice = cluster::slice_id(gpu, step.placement.start);
  cluster::apply(world_.cluster, {.kind = create ? Kind::kBeginCreate : Kind::kBeginDestroy,
                                  .slice = slice,
                                  .job = {},
                                  .profile = step.placement.profile});
  changed_ = true;
  change.in_step = true;
  change.step = step;
  if (!create) world_.log_layout(gpu);
  if (world_.options.repartition_cost == RepartitionCost::kPaper) return end_step(gpu);
  steps_.push({world_.now + step.duration, gpu});
}

void LayoutChanges::end_step(GpuId gpu) {
  GpuChange& change = gpus_[gpu.value];
  CHECK(change.in_step);
  const bool create = change.step.kind == mig::ChangeStep::Kind::kCreate;
  const SliceId slice = cluster::slice_id(gpu, change.step.placement.start);
  cluster::apply(world_.cluster, {.kind = create ? Kind::kFinishCreate : Kind::kFinishDestroy,
                                  .slice = slice,
                                  .job = {},
                                  .profile = 0});
  ++(create ? world_.counts.instances_created : world_.counts.instances_destroyed);
  change.in_step = false;
  changed_ = true;
  if (create) world_.log_layout(gpu);
  // The target may have moved on while the instance was being made.
  if (create && change.target && !change.target->contains(change.step.placement)) {
    cluster::apply(world_.cluster, {.kind = Kind::kClose, .slice = slice, .job = {}, .profile = 0});
  }
}

void LayoutChanges::finish_step() {
  const GpuId gpu = steps_.top().gpu;
  CHECK(steps_.top().time == world_.now);
  steps_.pop();
  end_step(gpu);
  advance(gpu);
}

}  // namespace partita::sim
