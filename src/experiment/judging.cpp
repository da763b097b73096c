#include "experiment/judging.h"

#include <algorithm>

namespace partita::experiment {

Result<Judged> judge(std::span<const workload::Trace> days, const sim::RunOptions& options,
                     const Policy& policy, const std::function<void(double)>& progress) {
  Judged judged{policy.repartition, policy};
  for (const workload::Trace& day : days) {
    const auto run = run_policy(day, options, policy);
    if (!run) return run.error();
    judged.et.push_back(run->result.et);
    judged.energy_kwh.push_back(run->result.energy_kwh());
    judged.tardiness_min.push_back(run->result.mean_tardiness_s / 60);
    judged.late_percent.push_back(100 * run->result.late_share());
    progress(static_cast<double>(judged.et.size()) / static_cast<double>(days.size()));
  }
  return judged;
}

std::optional<Relative> relative_change(std::span<const double> values,
                                        std::span<const double> reference) {
  auto change = relative_difference(values, reference);
  if (change && change->interval) change->interval->low = std::max(-1.0, change->interval->low);
  return change;
}

}  // namespace partita::experiment
