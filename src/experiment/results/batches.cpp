#include "experiment/results/batches.h"

#include <algorithm>

namespace partita::experiment {
namespace {

std::vector<RunRecord> runs_of(std::span<const RunRecord> records, const std::string& setting,
                               const std::string& policy) {
  std::vector<RunRecord> runs;
  for (const RunRecord& record : records) {
    if (record.setting == setting && record.policy == policy) runs.push_back(record);
  }
  std::ranges::sort(runs, {}, &RunRecord::seed);
  return runs;
}

template <typename Member>
std::vector<double> figures(std::span<const RunRecord> runs, Member member) {
  std::vector<double> values;
  for (const RunRecord& run : runs) values.push_back(static_cast<double>(run.*member));
  return values;
}

Ratio ratio_of(const std::vector<double>& reference, const std::vector<double>& policy) {
  Ratio ratio;
  const auto more = relative_difference(reference, policy);
  if (!more) return ratio;
  ratio.mean = 1 + more->share;
  if (more->interval) {
    ratio.interval = Interval{1 + more->interval->low, 1 + more->interval->high};
  }
  ratio.best = 0;
  for (std::size_t i = 0; i < policy.size(); ++i) {
    if (policy[i] > 0) ratio.best = std::max(ratio.best, reference[i] / policy[i]);
  }
  return ratio;
}

}  // namespace

std::vector<BatchRow> batch_rows(const StudySetting& setting, std::span<const RunRecord> records) {
  std::vector<BatchRow> rows;
  const auto reference = runs_of(records, setting.name, setting.policies.front().name);
  for (const StudyPolicy& policy : setting.policies) {
    const auto runs = runs_of(records, setting.name, policy.name);
    if (runs.empty() ||
        !std::ranges::equal(runs, reference, {}, &RunRecord::seed, &RunRecord::seed)) {
      continue;
    }
    const auto mean_of = [&](auto member) { return mean(figures(runs, member)); };
    const auto ratio = [&](auto member) {
      return ratio_of(figures(reference, member), figures(runs, member));
    };
    rows.push_back({.policy = policy.name,
                    .makespan_s = mean_of(&RunRecord::makespan_s),
                    .energy_j = mean_of(&RunRecord::energy_j),
                    .repartitions = mean_of(&RunRecord::repartitions),
                    .out_of_memory = mean_of(&RunRecord::out_of_memory),
                    .early_restarts = mean_of(&RunRecord::early_restarts),
                    .throughput = ratio(&RunRecord::makespan_s),
                    .energy = ratio(&RunRecord::energy_j)});
  }
  return rows;
}

}  // namespace partita::experiment
