// Judging: one policy on days nobody learned from, as values that can be compared day by day.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/policy_run.h"
#include "experiment/statistics/statistics.h"

namespace partita::experiment {

// Runs of one policy on the same days as the others'.
struct Judged {
  std::string name;  // as shown: the repartitioner, where the caller says nothing else
  Policy policy;
  std::vector<double> et = {};
  std::vector<double> energy_kwh = {};
  std::vector<double> tardiness_min = {};
  std::vector<double> late_percent = {};
};

// `progress` is told the fraction done. An error means that the policy cannot run every day.
Result<Judged> judge(std::span<const workload::Trace> days, const sim::RunOptions& options,
                     const Policy& policy, const std::function<void(double)>& progress);

// The mean against that of the reference, day by day. What is compared is never negative, so the
// interval ends where all of it is gone.
std::optional<Relative> relative_change(std::span<const double> values,
                                        std::span<const double> reference);

}  // namespace partita::experiment
