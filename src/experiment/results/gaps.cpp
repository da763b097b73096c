#include "experiment/results/gaps.h"

#include <fmt/format.h>

#include <map>

namespace partita::experiment {
namespace {

// Figures of a run are sums of doubles.
constexpr double kRounding = 1e-9;

using Day = std::pair<std::string, std::uint64_t>;

std::map<Day, const RunRecord*> by_day(std::span<const RunRecord> bounds) {
  std::map<Day, const RunRecord*> found;
  for (const RunRecord& bound : bounds) found[{bound.setting, bound.seed}] = &bound;
  return found;
}

// The values of a policy and those of the bounds, on the same days.
struct Paired {
  ByMeasure<std::vector<double>> policy;
  ByMeasure<std::vector<double>> bound;
};

Gap gap_of(const std::string& policy, const Paired& paired) {
  Gap gap{policy, {}};
  for (const Measure measure : kMeasures) {
    gap.over[measure] = relative_difference(paired.policy[measure], paired.bound[measure]);
  }
  return gap;
}

}  // namespace

Status check_bounds(std::span<const RunRecord> runs, std::span<const RunRecord> bounds) {
  const auto known = by_day(bounds);
  for (const RunRecord& run : runs) {
    const auto bound = known.find({run.setting, run.seed});
    if (bound == known.end()) continue;
    const Status sound = check_bound(run.key().text(), run, *bound->second);
    if (!sound) return sound;
  }
  return {};
}

Status check_bound(std::string_view who, const RunRecord& run, const RunRecord& bound) {
  for (const Measure measure : kMeasures) {
    const double value = value_of(run, measure);
    const double least = value_of(bound, measure);
    if (value * (1 + kRounding) >= least) continue;
    return Error{fmt::format(
        "{}: {} is {:.9g}, and its lower bound is {:.9g}; one of them is wrong: please report it",
        who, measure_name(measure), value, least)};
  }
  return {};
}

std::optional<SettingGaps> gaps_of(const std::string& setting, std::span<const RunRecord> runs,
                                   std::span<const RunRecord> bounds) {
  SettingGaps found{.setting = setting};
  ByMeasure<std::vector<double>> values;
  for (const RunRecord& bound : bounds) {
    if (bound.setting != setting) continue;
    ++found.days;
    for (const Measure measure : kMeasures) values[measure].push_back(value_of(bound, measure));
  }
  if (found.days == 0) return {};
  for (const Measure measure : kMeasures) {
    found.bound[measure].mean = mean(values[measure]);
    found.bound[measure].t = t_interval(values[measure]);
  }
  const auto known = by_day(bounds);
  std::map<std::string, Paired> policies;
  for (const RunRecord& run : runs) {
    const auto bound = known.find({run.setting, run.seed});
    if (run.setting != setting || bound == known.end()) continue;
    for (const Measure measure : kMeasures) {
      policies[run.policy].policy[measure].push_back(value_of(run, measure));
      policies[run.policy].bound[measure].push_back(value_of(*bound->second, measure));
    }
  }
  for (const auto& [policy, paired] : policies) found.gaps.push_back(gap_of(policy, paired));
  return found;
}

}  // namespace partita::experiment
