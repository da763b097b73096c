// Gaps: how far results are above what no schedule can beat, and that none is below.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiment/results/run_record.h"
#include "experiment/results/summary.h"
#include "experiment/statistics/statistics.h"

namespace partita::experiment {

// An error names the first run with less energy, tardiness or ET than the bound of its setting and
// day allows: the bound or the simulator is wrong. What sums of doubles lose is allowed for. Runs
// of days without a bound are passed over.
Status check_bounds(std::span<const RunRecord> runs, std::span<const RunRecord> bounds);

// The same for one run, which the error calls `who`.
Status check_bound(std::string_view who, const RunRecord& run, const RunRecord& bound);

// Of means over the days that have a bound; nothing where the mean of the bounds is 0.
struct Gap {
  std::string policy;
  ByMeasure<std::optional<Relative>> over = {};
};

struct SettingGaps {
  std::string setting;
  std::uint64_t days = 0;
  ByMeasure<Estimate> bound = {};  // mean and t interval
  std::vector<Gap> gaps = {};      // one a policy, in order of their names
};

// Nothing when there is no bound of this setting.
std::optional<SettingGaps> gaps_of(const std::string& setting, std::span<const RunRecord> runs,
                                   std::span<const RunRecord> bounds);

}  // namespace partita::experiment
