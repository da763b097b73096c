// View: everything a policy may look at when it decides; and what the run allows.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "cluster/cluster_state.h"
#include "decide/active_job.h"
#include "decide/forecaster.h"

namespace partita::decide {

// What interrupting a running job costs.
struct Preemption {
  enum class Mode : std::uint8_t {
    kFree,  // at every event every job may be re-placed, progress kept (the papers)
    kNone,  // a started job runs to its end
    kCost,  // an interrupted job pays `cost` before it makes progress again
    kPays,  // the same, and jobs that can be resumed are interrupted only where that pays
  };
  Mode mode = Mode::kFree;
  Micros cost;

  // Whether a running job may be interrupted at all.
  bool allows(const ActiveJob& job) const {
    return mode != Mode::kNone && (mode != Mode::kPays || job.resumable);
  }
};

struct View {
  Micros now;
  const cluster::ClusterState& cluster;
  const ActiveJobs& jobs;
  Preemption preemption;
  const mig::PowerCurve& power;
  double et_a = 0;                   // weight of energy in ET, per W·min
  Forecaster* forecaster = nullptr;  // null where the run offers none
};

}  // namespace partita::decide
