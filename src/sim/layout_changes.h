// LayoutChanges: the changes of layout of a run: what they cost in time, in deadlines and in
// interrupted jobs, step by step as cluster::LayoutStepper goes.
//
// A busy instance that has to go is preempted where the run allows it, else the change waits for
// it.
#pragma once

#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "cluster/layout_stepper.h"
#include "decide/policy_driver.h"
#include "decide/position_forecaster.h"
#include "sim/world.h"

namespace partita::sim {

class LayoutChanges {
 public:
  LayoutChanges(World& world, const decide::View& view, decide::PolicyDriver& policies);

  // Asks for a layout. Ignored when the GPU has it or is changing to it. A change under way
  // finishes its present step and turns to the new target.
  void request(GpuId gpu, const mig::Layout& target);

  bool under_way() const { return under_way_ > 0; }
  // Slices of the GPU became idle: a change may have waited for them.
  void resume(GpuId gpu) { advance(gpu); }

  Micros next_finish() const { return steps_.empty() ? Micros::max() : steps_.top().time; }
  // Finishes the step due now, and begins the next one. REQUIRES: next_finish() == now.
  void finish_step();

  // The layout the GPU has or is changing to.
  const mig::Layout& target(GpuId gpu) const { return stepper_.aim(gpu); }

  // Goes on as `other` would, in this object's own world.
  void copy_state(const LayoutChanges& other);
  // The same of a part of the other's GPUs, which are this world's in that order.
  void copy_part(const LayoutChanges& other, std::span<const GpuId> gpus);
  // Goes on from where these courses are. `seen` is what they were seen with; this object's world
  // stands there already. An instance under way is done when the model's time for it is over: at
  // once where it should have been.
  void take_courses(const cluster::ClusterState& seen,
                    std::span<const decide::LayoutCourse> courses);

  // Whether instances came, went, closed or reopened since the last call.
  bool take_changed();

 private:
  struct Due {
    Micros time;
    GpuId gpu;

    bool operator>(const Due& other) const {
      return time != other.time ? time > other.time : gpu > other.gpu;
    }
  };

  void take_step(GpuId gpu, const cluster::ClusterState& seen, Micros began);
  void advance(GpuId gpu);
  void begin_step(GpuId gpu, const mig::ChangeStep& step);
  void end_step(GpuId gpu);
  void preempt_on(SliceId slice);
  void penalise_running(GpuId gpu);

  World& world_;
  const decide::View& view_;
  decide::PolicyDriver& policies_;
  cluster::LayoutStepper stepper_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> steps_;
  std::uint32_t under_way_ = 0;  // GPUs with a target
  bool changed_ = false;
};

}  // namespace partita::sim
