#include "cluster/layout_stepper.h"

#include <utility>

#include "base/check.h"

namespace partita::cluster {

using Kind = Action::Kind;

void LayoutStepper::act(Kind kind, GpuId gpu, mig::Placement placement) {
  apply(state_, {.kind = kind,
                 .slice = slice_id(gpu, placement.start),
                 .job = {},
                 .profile = placement.profile});
}

void LayoutStepper::begin(GpuId gpu, const mig::ChangeStep& step) {
  CHECK(!gpus_[gpu.value].step);
  const bool create = step.kind == mig::ChangeStep::Kind::kCreate;
  act(create ? Kind::kBeginCreate : Kind::kBeginDestroy, gpu, step.placement);
  gpus_[gpu.value].step = step;
}

mig::ChangeStep LayoutStepper::end(GpuId gpu) {
  CHECK(gpus_[gpu.value].step);
  const mig::ChangeStep step = *std::exchange(gpus_[gpu.value].step, std::nullopt);
  const bool create = step.kind == mig::ChangeStep::Kind::kCreate;
  act(create ? Kind::kFinishCreate : Kind::kFinishDestroy, gpu, step.placement);
  return step;
}

void LayoutStepper::finish(GpuId gpu) {
  const mig::ChangeStep step = end(gpu);
  const auto& target = gpus_[gpu.value].target;
  const bool create = step.kind == mig::ChangeStep::Kind::kCreate;
  if (create && target && !target->contains(step.placement)) {
    act(Kind::kClose, gpu, step.placement);
  }
}

void LayoutStepper::revert(GpuId gpu) {
  const mig::ChangeStep step = end(gpu);
  const bool create = step.kind == mig::ChangeStep::Kind::kCreate;
  act(create ? Kind::kBeginDestroy : Kind::kBeginCreate, gpu, step.placement);
  act(create ? Kind::kFinishDestroy : Kind::kFinishCreate, gpu, step.placement);
}

}  // namespace partita::cluster
