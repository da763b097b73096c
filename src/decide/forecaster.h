// Forecaster: the door through which a policy asks what would happen next.
#pragma once

#include <span>

#include "base/units.h"
#include "decide/layout_request.h"
#include "workload/job.h"

namespace partita::decide {

// What a stretch of time costs.
struct ForecastCost {
  double energy_j = 0;     // of all GPUs until the end, and of the work then left, at full width
  double tardiness_s = 0;  // sum over jobs; of those not done by the end, the least still possible
  std::uint64_t events = 0;
};

// Whoever runs the cluster (the simulator, the live controller) answers from a copy of its present
// state, with the scheduler of the run underneath and the true costs of changing layouts.
class Forecaster {
 public:
  virtual ~Forecaster() = default;

  // The layouts are asked for now and nothing else is until `until`; these jobs arrive meanwhile, in
  // order of arrival. The present state is not touched.
  virtual ForecastCost forecast(std::span<const LayoutRequest> requests,
                                std::span<const workload::Job> arrivals, Micros until) = 0;
};

}  // namespace partita::decide
