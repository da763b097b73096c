// Rollout: answers a policy's question what would happen, by running a copy of the run ahead.
#pragma once

#include "decide/forecaster.h"
#include "sim/clockwork.h"

namespace partita::sim {

class Rollout : public decide::Forecaster {
 public:
  // `origin` is the run that is asked about; `scheduler` is one of the same kind, for the copies.
  Rollout(const Clockwork& origin, const RunOptions& options, decide::Scheduler& scheduler)
      : origin_(origin), options_(quiet(options)), copy_(options_, scheduler) {}

  decide::ForecastCost forecast(std::span<const decide::LayoutRequest> requests,
                                std::span<const workload::Job> arrivals, Micros until) override;

 private:
  static RunOptions quiet(RunOptions options);
  void add_unfinished(decide::ForecastCost& cost, Micros until) const;

  const Clockwork& origin_;
  RunOptions options_;
  Clockwork copy_;  // used again for each forecast, so that its memory is
};

}  // namespace partita::sim
