// ViewRollout: forecasts where there is no simulated run to copy, from what policies see.
//
// The position is laid out once in a clockwork of its own, and every question is answered by a
// Rollout from there. The same position and question give the same answer, whatever was asked
// before, so that what a daemon decided can be decided again.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "decide/position_forecaster.h"
#include "sim/rollout.h"

namespace partita::sim {

// What one forecast may look at, so that a decision has a price that does not grow with the queue.
struct ViewRolloutLimits {
  std::size_t waiting_max = 100;   // of more waiting jobs so many, evenly taken
  std::size_t arrivals_max = 100;  // of more arrivals the first
};

class ViewRollout : public decide::PositionForecaster {
 public:
  using Limits = ViewRolloutLimits;

  // `scheduler` is one of the kind that runs the cluster, of its own.
  explicit ViewRollout(std::unique_ptr<decide::Scheduler> scheduler, Limits limits = {},
                       RepartitionCost cost = RepartitionCost::kMeasured)
      : scheduler_(std::move(scheduler)), limits_(limits), cost_(cost) {}

  void take_position(const decide::View& view, std::span<const decide::LayoutCourse> courses,
                     decide::Outlook outlook) override;
  // REQUIRES: a position was taken, of the same cluster each time.
  decide::ForecastCost forecast(const decide::ForecastQuestion& question) override;
  std::unique_ptr<decide::WhatIfRun> what_if_run(std::span<const GpuId> gpus) override;

 private:
  struct Origin {
    Origin(const decide::View& view, RepartitionCost cost, decide::Scheduler& scheduler);

    RunOptions options;
    Clockwork clock;
    Rollout rollout;
  };

  void lay_out();
  std::span<const workload::Job> arrivals_of(const decide::ForecastQuestion& question);

  std::unique_ptr<decide::Scheduler> scheduler_;
  Limits limits_;
  RepartitionCost cost_;
  const decide::View* view_ = nullptr;
  std::span<const decide::LayoutCourse> courses_;
  decide::Outlook outlook_;
  bool laid_out_ = false;
  std::unique_ptr<Origin> origin_;  // made when first asked
  std::optional<cluster::ProfileFits> fits_;
  std::vector<decide::LayoutRequest> requests_;
  std::vector<workload::Job> arrivals_;
};

}  // namespace partita::sim
