// SliceRecords: what is on the GPUs, in the books and in the store, and what there is in doubt.
//
// The fleet has what is usable. Here stands what is not: slices whose instance is gone while a job
// is on them, those that could not be made and may be half there, and those of GPUs that nobody can
// ask now. Nothing that somebody else made is ever touched.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "control/control_state.h"

namespace partita::control {

// A slice of ours that nobody can ask after now.
struct SetAside {
  mig::Placement placement;
  std::string uuid;
  SliceStage stage = SliceStage::kPresent;
};

// Whether an instance is what the books have there: by its UUID; by its place where it was just
// being made; and as half of one where it was being unmade or could not be made. A whole one that
// turns up where one could not be made may be somebody else's, and is left alone.
bool is_ours(const SetAside& known, const device::Instance& instance);

class SliceRecords {
 public:
  explicit SliceRecords(ControlState& state) : state_(state) {}

  // Begins what steps can begin.
  void begin_layout_steps();
  void take(const CreateDone& done);
  void take(const DestroyDone& done);

  // ---- an inventory compared with the books

  // What was ours before the GPU was out of use is ours again, or gone.
  void take_back(const Inventory& inventory);
  // What could not be made is not there, or it is half there and goes.
  void settle_failed_creates(const Inventory& inventory);
  // Instances that are not there any more; each slice of ours among them is passed on.
  void find_vanished(const Inventory& inventory,
                     const std::function<void(cluster::SliceId)>& ours_gone);
  void add_foreign(const Inventory& inventory);

  bool vanished(cluster::SliceId slice) const { return vanished_.contains(slice); }
  // Slices that are gone from the GPU, once the jobs that were on them have been taken off.
  void remove_vanished();
  // A GPU that is out of use is emptied once nothing of ours is under way on it.
  void settle_unusable(GpuId gpu);

  // ---- a controller begins

  void reconcile(const Inventory& inventory, const store::Contents& contents);
  // Slices of GPUs that did not answer.
  void set_unseen_aside(std::span<const Inventory> inventories, const store::Contents& contents);
  // Those of GPUs that are no longer in the machine.
  void drop_lost_gpus(const store::Contents& contents);
  // Gives a job the slice that its process was started on, where it is there and open.
  void seat(Job& job);

 private:
  std::optional<SetAside> known_slice(const store::InstanceRow& row) const;
  void reconcile_instance(GpuId gpu, const device::Instance& instance,
                          const store::InstanceRow* row);
  void write(GpuId gpu, mig::Placement placement, SliceStage stage, const std::string& uuid);
  void drop(GpuId gpu, std::uint8_t start);
  // A half-made slice of ours that policies know nothing of. REQUIRES: its place is free, and no
  // step of the GPU is under way.
  void begin_own_destroy(GpuId gpu, const device::Instance& instance);
  void seat_stragglers();

  ControlState& state_;
  std::set<cluster::SliceId> vanished_;  // whose instance is gone while a job is on them
  // Ours on GPUs that are out of use; whether they are still there shows when it is back.
  std::map<GpuId, std::vector<SetAside>> set_aside_;
  // Those that could not be made, until an inventory tells whether half of one is left.
  std::map<cluster::SliceId, mig::Placement> failed_creates_;
};

}  // namespace partita::control
