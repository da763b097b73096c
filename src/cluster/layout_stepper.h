// LayoutStepper: GPUs on their way from one layout to another, one instance at a time.
//
// A GPU makes or unmakes one instance at a time, as the driver does. An instance that is wanted
// both before and after is never touched; one that has to go takes no new job and is unmade once it
// is idle. How long a step takes, and what becomes of jobs that are in the way, is for who owns the
// stepper: the simulator and the live controller do both.
#pragma once

#include <optional>
#include <vector>

#include "cluster/cluster_state.h"
#include "mig/change.h"

namespace partita::cluster {

class LayoutStepper {
 public:
  // REQUIRES: the state outlives the stepper.
  explicit LayoutStepper(ClusterState& state) : state_(state), gpus_(state.gpu_count()) {}

  // What the GPU is changing to; nothing when it is not changing.
  const std::optional<mig::Layout>& target(GpuId gpu) const { return gpus_[gpu.value].target; }
  // The layout the GPU has or is changing to.
  const mig::Layout& aim(GpuId gpu) const {
    return target(gpu) ? *target(gpu) : state_.gpus[gpu.value].layout;
  }
  // The step under way, if one is.
  const std::optional<mig::ChangeStep>& step(GpuId gpu) const { return gpus_[gpu.value].step; }

  // Turns to a layout: instances close that are not wanted, and reopen that are.
  // `wanted(slice, in_target)` has the last word on each, `unwanted(slice)` is called after one
  // that goes has closed. True when any closed or reopened. REQUIRES: the GPU's aim is another.
  template <typename Wanted, typename Unwanted>
  bool turn_to(GpuId gpu, const mig::Layout& layout, const Wanted& wanted,
               const Unwanted& unwanted);
  void forget_target(GpuId gpu) { gpus_[gpu.value].target.reset(); }

  // The first step of the smallest change that can begin now: an idle instance to destroy that
  // `free(slice)` allows, or one to create whose memory slices are free. A GPU that has reached its
  // target has none any more. REQUIRES: no step is under way.
  template <typename Free>
  std::optional<mig::ChangeStep> next_step(GpuId gpu, const Free& free);

  void begin(GpuId gpu, const mig::ChangeStep& step);
  // The step is done. A new instance closes where the target has moved on meanwhile.
  void finish(GpuId gpu);
  // The step failed: what was to be made is not there, what was to be unmade is.
  void revert(GpuId gpu);
  // Goes on with a step that is under way already. REQUIRES: the state says so.
  void resume(GpuId gpu, std::optional<mig::Layout> target, std::optional<mig::ChangeStep> step) {
    gpus_[gpu.value] = {std::move(target), step};
  }

 private:
  struct Change {
    std::optional<mig::Layout> target;
    std::optional<mig::ChangeStep> step;
  };

  mig::ChangeStep end(GpuId gpu);
  void act(Action::Kind kind, GpuId gpu, mig::Placement placement);

  ClusterState& state_;
  std::vector<Change> gpus_;
};

template <typename Wanted, typename Unwanted>
bool LayoutStepper::turn_to(GpuId gpu, const mig::Layout& layout, const Wanted& wanted,
                            const Unwanted& unwanted) {
  gpus_[gpu.value].target = layout;
  bool marked = false;
  const mig::Layout present = state_.gpus[gpu.value].layout;
  for (const mig::Placement placement : present.instances()) {
    const SliceId slice = slice_id(gpu, placement.start);
    const bool stays = wanted(slice, layout.contains(placement));
    if (state_.slice(slice).closing == stays) {
      act(stays ? Action::Kind::kReopen : Action::Kind::kClose, gpu, placement);
      marked = true;
    }
    if (!stays) unwanted(slice);
  }
  return marked;
}

template <typename Free>
std::optional<mig::ChangeStep> LayoutStepper::next_step(GpuId gpu, const Free& free) {
  std::optional<mig::Layout>& target = gpus_[gpu.value].target;
  const mig::Layout& present = state_.gpus[gpu.value].layout;
  if (target == present) target.reset();
  if (!target) return {};
  for (const mig::ChangeStep& step : mig::smallest_change(*state_.model, present, *target).steps) {
    if (step.kind == mig::ChangeStep::Kind::kCreate) {
      if (mig::fits(*state_.model, present, step.placement)) return step;
      continue;
    }
    const SliceId slice = slice_id(gpu, step.placement.start);
    if (state_.slice(slice).state == SliceState::kIdle && free(slice)) return step;
  }
  return {};
}

}  // namespace partita::cluster
