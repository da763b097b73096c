// EnergyBooks: what every GPU draws, and which job the energy is booked to.
#pragma once

#include <vector>

#include "control/control_state.h"
#include "control/energy_split.h"

namespace partita::control {

struct GpuReading {
  double power_w = 0;
  double energy_j = 0;      // the counter
  double idle_j = 0;        // since the daemon began
  double attributed_j = 0;  // to jobs, since the daemon began
  bool read = false;
};

class EnergyBooks {
 public:
  explicit EnergyBooks(ControlState& state)
      : state_(state), readings_(state.fleet.gpus().size()), meters_(readings_.size()) {}

  const GpuReading& reading(GpuId gpu) const { return readings_[gpu.value]; }
  void take(const Reading& reading);
  // Now and then, what running attempts have used so far is written down.
  void write_if_due();

 private:
  void share(const Reading& reading);

  ControlState& state_;
  std::vector<GpuReading> readings_;
  std::vector<BoardMeter> meters_;
  Micros last_written_;
};

}  // namespace partita::control
