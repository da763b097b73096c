// HeldSlices: the slices of all GPUs as policies see them, and beside each what they must not care
// about: which instance of the driver is behind it, and whose it is.
//
// What is not ours to use (instances somebody else made, slices that cannot be destroyed, GPUs that
// are lost) is shown to policies as busy for ever, so that they plan around it.
#pragma once

#include <vector>

#include "cluster/cluster_state.h"
#include "control/protocol.h"
#include "decide/active_job.h"

namespace partita::control {

class HeldSlices {
 public:
  enum class Holder : std::uint8_t {
    kNobody,       // no instance, or ours and as the cluster state says
    kForeign,      // made by somebody else
    kQuarantined,  // ours, but it cannot be destroyed
    kBlocked,      // stands for a GPU that is out of use
    kClaimed,      // ours and idle, kept for a job that is still being stopped elsewhere
  };

  HeldSlices(const mig::GpuModel& model, std::uint32_t gpus, decide::ActiveJobs& jobs);

  const cluster::ClusterState& cluster() const { return cluster_; }
  cluster::ClusterState& cluster() { return cluster_; }
  const mig::GpuModel& model() const { return *cluster_.model; }
  Holder holder(cluster::SliceId slice) const { return slots_[slice.value].holder; }
  const device::InstanceKey& instance(cluster::SliceId slice) const {
    return slots_[slice.value].instance;
  }

  // An instance of ours, ready for jobs. REQUIRES: its place is free.
  void add_own(GpuId gpu, mig::Placement placement, device::InstanceKey instance);
  // False when it overlaps something that is known.
  bool add_foreign(GpuId gpu, mig::Placement placement, device::InstanceKey instance);
  // Whatever is at the place goes. REQUIRES: no job of ours runs on it.
  void remove(cluster::SliceId slice);

  // An idle slice is kept for a job that will be on it until about `finish`, until release().
  void keep(cluster::SliceId slice, JobId job, Micros finish);
  void release(cluster::SliceId slice);

  // Whether open or existing instances changed since the last call.
  bool take_changed();
  void note_change() { changed_ = true; }

 protected:
  struct Slot {
    Holder holder = Holder::kNobody;
    device::InstanceKey instance;
    cluster::JobHandle phantom;  // what makes it busy when it is not ours to use
    int destroy_tries = 0;
    Micros retry_at;  // when it is quarantined
    bool condemned = false;
  };

  Slot& slot(cluster::SliceId slice) { return slots_[slice.value]; }
  const Slot& slot(cluster::SliceId slice) const { return slots_[slice.value]; }
  decide::ActiveJob& occupy(cluster::SliceId slice, Holder holder);
  void vacate(cluster::SliceId slice);
  void act(cluster::Action::Kind kind, cluster::SliceId slice, mig::ProfileIndex profile = 0);

 private:
  cluster::ClusterState cluster_;
  decide::ActiveJobs& jobs_;
  std::vector<Slot> slots_;
  std::uint32_t phantoms_ = 0;
  bool changed_ = true;
};

}  // namespace partita::control
