// Fleet: the GPUs as the controller knows them, and the way from one layout to the next: which
// steps are under way, which failed and when they are tried again, which GPUs are out of use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/layout_stepper.h"
#include "control/held_slices.h"
#include "decide/position_forecaster.h"

namespace partita::control {

struct GpuFact {
  std::string uuid;
  std::string name;
  GpuId device;  // as the backend numbers it
};

// Values are on disk, in InstanceRow::state.
enum class SliceStage : std::uint8_t {
  kCreating = 0,
  kPresent = 1,
  kDestroying = 2,
  kDoubtful = 3,  // could not be made; half of it may be there
};

class Fleet : public HeldSlices {
 public:
  // A step to carry out; the cluster state says already that it is under way.
  struct Step {
    GpuId gpu;
    mig::ChangeStep::Kind kind = mig::ChangeStep::Kind::kCreate;
    mig::Placement placement;
  };

  Fleet(const mig::GpuModel& model, std::vector<GpuFact> gpus, decide::ActiveJobs& jobs);

  const std::vector<GpuFact>& gpus() const { return gpus_; }
  std::optional<GpuId> gpu_of_uuid(const std::string& uuid) const;

  bool changing(GpuId gpu) const { return stepper_.target(gpu).has_value(); }
  // The layout the GPU has or is changing to.
  const mig::Layout& aim(GpuId gpu) const { return stepper_.aim(gpu); }
  bool usable(GpuId gpu) const { return changes_[gpu.value].why_unusable.empty(); }
  const std::string& why_unusable(GpuId gpu) const { return changes_[gpu.value].why_unusable; }

  // ---- what is there

  // It takes no new job, and is destroyed once it is idle; who wants it asks for it again.
  void condemn_slice(cluster::SliceId slice);

  // The destruction of an idle instance is under way. REQUIRES: no other step is.
  void begin_destroy(GpuId gpu, mig::Placement placement);

  // ---- what is wanted

  // Ignored for GPUs out of use. Instances that are not wanted take no new job.
  void request(GpuId gpu, const mig::Layout& layout);
  // Asks again for what was asked for last, where something was lost since.
  void renew_requests();
  // Steps that can begin now, one a GPU at a time. Never an instance of somebody else.
  std::vector<Step> begin_steps(Micros now);
  // The earliest instant after `now` at which a step that failed is tried again.
  std::optional<Micros> next_retry(Micros now) const;

  // ---- how it went

  void created(GpuId gpu, mig::Placement placement, device::InstanceKey instance);
  // No step of the GPU begins until inventoried(): half of the slice may be in the way.
  void not_created(GpuId gpu, mig::Placement placement, Micros now);
  void inventoried(GpuId gpu) { changes_[gpu.value].unsure = false; }
  void destroyed(GpuId gpu, mig::Placement placement);
  // True when it was tried often enough and is left alone for a while.
  bool not_destroyed(GpuId gpu, mig::Placement placement, Micros now);

  // Another reason for one that is out of use already.
  void set_why_unusable(GpuId gpu, std::string why) {
    changes_[gpu.value].why_unusable = std::move(why);
  }
  // Takes no new job from now on; block() follows when the last one has left.
  void condemn(GpuId gpu, const std::string& why);
  bool blocked(GpuId gpu) const { return changes_[gpu.value].blocked; }
  // All slices go, and nothing is placed there until it is usable again. REQUIRES: no job runs.
  void block(GpuId gpu, const std::string& why);
  void unblock(GpuId gpu);

  // Our own instance at this place is being made or unmade.
  bool in_step(GpuId gpu) const { return stepper_.step(gpu).has_value(); }

  // Where the layout of every GPU is heading; replaces what `courses` held.
  void list_courses(std::vector<decide::LayoutCourse>& courses) const;

 private:
  struct GpuChange {
    Micros step_began;  // as far as it is known: an instance found half unmade began long ago
    Micros retry_at;
    Micros retry_wait;
    std::string why_unusable;
    bool blocked = false;
    bool has_condemned = false;    // slices, perhaps
    bool has_quarantined = false;  // slices, perhaps
    bool unsure = false;           // what is there
  };

  void back_off(GpuChange& change, Micros now);
  std::optional<mig::ChangeStep> condemned_step(GpuId gpu);
  void try_quarantined_again(GpuId gpu, Micros now);
  template <typename Visit>
  void each_quarantined(GpuId gpu, Visit visit) const;

  cluster::LayoutStepper stepper_;
  std::vector<GpuFact> gpus_;
  std::vector<GpuChange> changes_;
  std::vector<std::optional<mig::Layout>> wanted_;  // by GPU: what was asked for last
};

}  // namespace partita::control
