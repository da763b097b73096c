// MemoryTrend: the memory a running job was seen to use, and whether it will outgrow its slice.
//
// The rule is that of the simulator (decide/early_restart.h): a line through the latest readings,
// carried on to the end with a margin. The live world does not say how far a job has come, so the
// line runs over time; and a program that allocates once and then stays would look as if it grew,
// so the later half of the readings must say the same.
#pragma once

#include <optional>
#include <vector>

#include "decide/early_restart.h"

namespace partita::control {

class MemoryTrend {
 public:
  // REQUIRES: later than the one before.
  void add(double seconds, double gib, const decide::EarlyRestart& rule);

  std::size_t readings() const { return seconds_.size(); }
  double peak_gib() const { return peak_gib_; }
  double last_gib() const { return gib_.empty() ? 0 : gib_.back(); }

  // The memory the job is expected to need by `end_seconds`, when that is more than the slice has
  // and as many readings in a row said so as the rule demands. To be asked once after each reading.
  std::optional<double> outgrows(double capacity_gib, double end_seconds,
                                 const decide::EarlyRestart& rule);

 private:
  std::vector<double> seconds_;  // the latest, at most the window of the rule
  std::vector<double> gib_;
  double peak_gib_ = 0;
  std::uint32_t confirmed_ = 0;
};

}  // namespace partita::control
