// MemoryWatch: when a job whose memory grows has to leave its slice for a larger one.
//
// The memory of a job depends only on its own work, so what will happen on a slice is settled when
// the job starts there: one instant, found ahead. Readings are no events of the run. Policies see
// none of this: they know the memory a job is believed to need, and learn when it had to go.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "decide/active_job.h"
#include "mig/gpu_model.h"
#include "sim/run.h"
#include "workload/memory_curve.h"

namespace partita::sim {

class MemoryWatch {
 public:
  struct Stop {
    Micros time = Micros::max();  // never
    bool early = false;           // restarted by the projection, not for want of memory
    double need_gib = 0;          // what the job is believed to need from then on
  };

  // REQUIRES of the references: they outlive the watch.
  MemoryWatch(const mig::GpuModel& model, const MemoryRules& rules)
      : model_(model), rules_(rules) {}

  // By job id; none where no job's memory grows.
  void set_curves(std::span<const workload::MemoryCurve> curves) { curves_ = curves; }
  bool any() const { return !curves_.empty(); }
  // Whether some profile the job may use has the memory it will want in the end.
  bool has_room(const workload::Job& job, JobId id) const {
    return !any() || has_room_for(job, curves_[id.value].peak_gib);
  }

  // When the job must leave the slice it is on, if it is left alone until then.
  Stop next_stop(const decide::ActiveJob& job, mig::ProfileIndex profile, Micros now) const;

  // The profiles a job may use that is believed to need so much; bit i is profile i.
  std::uint16_t fits(const decide::ActiveJob& job, double need_gib) const;

 private:
  bool has_room_for(const workload::Job& job, double gib) const;
  std::optional<Stop> early_restart(const decide::ActiveJob& job,
                                    const workload::MemoryCurve& curve, double capacity_gib,
                                    Micros now) const;

  const mig::GpuModel& model_;
  const MemoryRules& rules_;
  std::span<const workload::MemoryCurve> curves_;
};

}  // namespace partita::sim
