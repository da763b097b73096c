#include "control/jobs/memory_trend.h"

#include <algorithm>
#include <span>

namespace partita::control {

void MemoryTrend::add(double seconds, double gib, const decide::EarlyRestart& rule) {
  if (seconds_.size() >= rule.window) {
    seconds_.erase(seconds_.begin());
    gib_.erase(gib_.begin());
  }
  seconds_.push_back(seconds);
  gib_.push_back(gib);
  peak_gib_ = std::max(peak_gib_, gib);
}

std::optional<double> MemoryTrend::outgrows(double capacity_gib, double end_seconds,
                                            const decide::EarlyRestart& rule) {
  const std::size_t count = seconds_.size();
  if (count < std::max<std::size_t>(rule.least, 6)) return {};
  const std::span<const double> seconds(seconds_);
  const std::span<const double> gib(gib_);
  const std::size_t half = count / 2;
  const double whole = decide::upper_projection(seconds, gib, end_seconds, rule.z);
  const double later =
      decide::upper_projection(seconds.subspan(half), gib.subspan(half), end_seconds, rule.z);
  const double projected = std::min(whole, later);
  const bool exceeds = projected > capacity_gib + decide::kProjectionGuardGib;
  confirmed_ = exceeds ? confirmed_ + 1 : 0;
  if (confirmed_ < rule.confirmations) return {};
  return projected;
}

}  // namespace partita::control
