// ThinnedArrivals: an exact Poisson process whose rate is constant within each hour of the day.
#pragma once

#include <array>
#include <optional>

#include "base/rng.h"
#include "base/units.h"

namespace partita::workload {

class ThinnedArrivals {
 public:
  // Rates in jobs a minute by hour of the day, times `multiplier`, over [0, hours).
  ThinnedArrivals(const std::array<double, 24>& rates_per_min, double multiplier, double hours,
                  Rng rng);

  // The next arrival, to the microsecond; nothing when the window is over. Expected cost: the
  // highest rate over the mean rate.
  std::optional<Micros> next();
  double progress() const;

 private:
  std::array<double, 24> acceptance_{};  // rate of the hour over the highest
  double gap_mean_s_ = 0;                // of the process before thinning; 0 when no job ever comes
  double end_s_;
  double now_s_ = 0;
  Rng rng_;
};

}  // namespace partita::workload
