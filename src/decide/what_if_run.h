// WhatIfRun: a second run of the same cluster beside the real one, which costs nothing but time to
// simulate: what the same jobs would have cost under other layouts.
#pragma once

#include <span>

#include "base/units.h"
#include "decide/layout_request.h"
#include "workload/job.h"

namespace partita::decide {

// What a what-if run has cost since it began.
struct WhatIfCost {
  double energy_j = 0;     // of all GPUs, busy or not
  double tardiness_s = 0;  // sum over jobs
};

// Begins where the cluster stands when it is made, and goes on as it is told. Where run times
// are estimates jobs take what such jobs have been seen to take, so two what-if runs compare and
// one does not with the real one.
class WhatIfRun {
 public:
  virtual ~WhatIfRun() = default;

  // A job comes, or a layout is asked for, now or later than all that was said before. Nothing is
  // simulated yet.
  virtual void add_job(const workload::Job& job) = 0;
  virtual void request(Micros now, const LayoutRequest& request) = 0;

  // Runs up to now and gives the cost until now, and of what is there then the cost of draining it
  // with no further arrival, so that work put off is not taken for work saved. For the draining
  // these layouts, one a GPU, are asked for; none: things stay as they are.
  virtual WhatIfCost cost_until(Micros now, std::span<const mig::Layout> then) = 0;
};

}  // namespace partita::decide
