// Rollout: answers a policy's question what would happen, by running a copy of the run ahead.
#pragma once

#include <memory>
#include <vector>

#include "decide/forecaster.h"
#include "sim/clockwork.h"

namespace partita::sim {

class Rollout : public decide::Forecaster {
 public:
  // `origin` is the run that is asked about; `scheduler` is one of the same kind, for the copies.
  Rollout(const Clockwork& origin, const RunOptions& options, decide::Scheduler& scheduler);

  decide::ForecastCost forecast(const decide::ForecastQuestion& question) override;
  std::unique_ptr<decide::WhatIfRun> what_if_run(std::span<const GpuId> gpus) override;

 private:
  // A copy of the run, or of a part of its GPUs. Kept for the next forecast of as many, so that its
  // memory is.
  struct Copy {
    Copy(RunOptions run_options, decide::Scheduler& scheduler)
        : options(std::move(run_options)), clock(options, scheduler) {}

    RunOptions options;
    Clockwork clock;
  };

  void take_copy(std::span<const GpuId> gpus);
  void begin(const decide::ForecastQuestion& question);
  // With the times that such jobs have been seen to take.
  std::span<const workload::Job> as_expected(std::span<const workload::Job> arrivals);
  void sum_joules_to_come(std::span<const workload::Job> arrivals);
  // Energy above idle and tardiness from the beginning of the forecast until now.
  decide::ForecastCost cost_so_far(Micros now);
  bool certain_to_exceed(const decide::CostLimit& limit);
  void add_unfinished(decide::ForecastCost& cost, Micros until) const;
  double least_joules(std::span<const double> time_us) const;

  const Clockwork& origin_;
  decide::Scheduler& scheduler_;
  std::unique_ptr<Copy> copy_;
  double joules_before_ = 0;
  double watts_a_slice_min_ = 0;  // above idle, whatever else is busy on the GPU
  // By arrival: the least energy of it and all later ones. Filled when there is a limit.
  std::vector<double> joules_to_come_;
  std::vector<workload::Job> arrivals_;  // of the question, with other times
};

}  // namespace partita::sim
