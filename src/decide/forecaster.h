// Forecaster: the interface through which a policy asks what would happen next.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/units.h"
#include "decide/layout_request.h"
#include "decide/what_if_run.h"
#include "workload/job.h"

namespace partita::decide {

// Where a forecast may break off: once its cost, weighed so, is certain to exceed `cost`.
struct CostLimit {
  double per_joule = 0;
  double per_tardy_second = 0;
  double cost = 0;
};

struct ForecastQuestion {
  std::span<const LayoutRequest> requests;  // asked for now; nothing else is later
  std::span<const workload::Job> arrivals;  // in order of arrival, from now to `until`
  Micros until;                             // ends here, or when all jobs are done
  std::optional<CostLimit> limit = {};
  // The GPUs the forecast is about, ascending, all that have a request among them: they run on
  // with their jobs and with the share of the waiting jobs that they are of the fleet. Empty: all.
  std::span<const GpuId> gpus = {};
};

// What the time until all work is done costs.
struct ForecastCost {
  double energy_j = 0;     // above that of idle GPUs, so that runs of different length compare
  double tardiness_s = 0;  // sum over jobs
  Micros end;              // when all was done, or `until`
  std::uint64_t events = 0;
  bool over_limit = false;  // broken off: the limit is exceeded, and the figures say nothing else
};

// Whoever runs the cluster (the simulator, the live controller) answers from a copy of its present
// state, with the scheduler of the run underneath and the true costs of changing layouts.
class Forecaster {
 public:
  virtual ~Forecaster() = default;

  // What is left at `until` is charged at the least it can still cost. The present state is not
  // touched.
  virtual ForecastCost forecast(const ForecastQuestion& question) = 0;

  // A run beside the real one from the present state on, of these GPUs (ascending; empty: all) with
  // their share of the waiting jobs; layouts are then asked for by their places in the list. Null
  // where there is none. Lives no longer than the forecaster.
  virtual std::unique_ptr<WhatIfRun> what_if_run(std::span<const GpuId>) { return nullptr; }
};

}  // namespace partita::decide
