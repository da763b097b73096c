// Forecaster: the door through which a policy asks what would happen next.
#pragma once

#include <span>

#include "base/units.h"
#include "decide/layout_request.h"
#include "workload/job.h"

namespace partita::decide {

// What the time until all work is done costs.
struct ForecastCost {
  double energy_j = 0;     // above that of idle GPUs, so that runs of different length compare
  double tardiness_s = 0;  // sum over jobs
  std::uint64_t events = 0;
};

// Whoever runs the cluster (the simulator, the live controller) answers from a copy of its present
// state, with the scheduler of the run underneath and the true costs of changing layouts.
class Forecaster {
 public:
  virtual ~Forecaster() = default;

  // The layouts are asked for now and nothing else is; these jobs arrive, in order of arrival; the
  // forecast ends when all are done, or at `until`, where what is left is charged at the least it
  // can still cost. The present state is not touched.
  virtual ForecastCost forecast(std::span<const LayoutRequest> requests,
                                std::span<const workload::Job> arrivals, Micros until) = 0;
};

}  // namespace partita::decide
