// Devices: what follows for jobs and slices from what GPUs report.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/energy_books.h"
#include "control/jobs/attempts.h"

namespace partita::control {

class Devices {
 public:
  Devices(ControlState& state, JobFlow& flow, SliceRecords& slices, Attempts& attempts)
      : energy(state), state_(state), flow_(flow), slices_(slices), attempts_(attempts) {}

  void take(const Reading& reading);
  // Compares what the driver says with what we know.
  void take(const Inventory& inventory);
  void take(const GpuHealth& health);
  void take(const SliceFault& fault);
  void take(const DrainGpu& drain);
  // What the store says of GPUs. REQUIRES: slices and jobs are known.
  void restore_drains(const std::vector<store::GpuRow>& rows);
  // An operator took the GPU out of use.
  bool drained(GpuId gpu) const { return drained_.contains(gpu); }
  // Jobs that can save their work, have run for `ran_min` and stand in the way of a layout are
  // stopped.
  void preempt_for_layouts(Micros ran_min);

  EnergyBooks energy;

 private:
  void leave_gpu(GpuId gpu, const std::string& why);
  void preempt_on(cluster::SliceId slice, Micros ran_min);

  ControlState& state_;
  JobFlow& flow_;
  SliceRecords& slices_;
  Attempts& attempts_;
  std::map<GpuId, std::string> drained_;  // by operators, and how that is said
  std::map<GpuId, std::string> ill_;      // by themselves, and why
  std::set<GpuId> returning_;             // answer again, and are used after an inventory
};

}  // namespace partita::control
