// WhatIf: a run beside the real one, brought up to date when it is asked what it cost.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "decide/what_if_run.h"
#include "sim/clockwork.h"

namespace partita::sim {

class WhatIf : public decide::WhatIfRun {
 public:
  // From the position of `origin`, which outlives it. The scheduler, one of the kind that runs the
  // cluster, may be used by others between two calls.
  WhatIf(const Clockwork& origin, std::span<const GpuId> gpus, decide::Scheduler& scheduler);

  void add_job(const workload::Job& job) override;
  void request(Micros now, const decide::LayoutRequest& request) override {
    requests_.push_back({now, request});
  }
  decide::WhatIfCost cost_until(Micros now, std::span<const mig::Layout> then) override;

 private:
  struct Asked {
    Micros at;
    decide::LayoutRequest request;
  };

  // Lets a copy of the run go on, so that the scheduler is told of where it stands.
  void run_to(Micros now);
  void run_up_to(Clockwork& clock, Micros now);
  void ask_and_decide(Clockwork& clock);
  double joules(Clockwork& clock, Micros until) const;

  RunOptions options_;
  const World& origin_;
  decide::Scheduler& scheduler_;
  std::unique_ptr<Clockwork> clock_;
  std::unique_ptr<Clockwork> other_;
  std::vector<workload::Job> jobs_;  // that came since it was last brought up to date
  std::deque<Asked> requests_;
  JobId next_id_;
  double joules_ = 0;  // to be added to those of the meter
  Micros tardiness_;
};

}  // namespace partita::sim
