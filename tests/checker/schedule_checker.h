// An independent referee: from jobs, schedule and layouts alone, is this run true to the model?
#pragma once

#include <string>
#include <vector>

#include "sim/run.h"
#include "workload/job.h"

namespace partita::checker {

struct Expectations {
  // No job waits while an instance that fits it is idle. Holds for every scheduler of the registry
  // as long as no layout changes.
  bool work_conserving = false;
};

// What is wrong, one sentence each; at most a dozen. The result must have its jobs and schedule.
std::vector<std::string> violations(const workload::Trace& trace, const sim::RunOptions& options,
                                    const sim::RunResult& result, const Expectations& expected);

}  // namespace partita::checker
