// EnergySplit: the joules of a board, shared out so that the shares add up to its counter.
//
// No GPU measures a slice, so these are estimates and are shown as such: what the board takes when
// idle belongs to nobody; what it takes beyond that is shared by the compute slices that are busy.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace partita::control {

struct EnergyShares {
  double idle_j = 0;
  std::vector<double> busy_j;  // as the slices were given
};

// `busy_compute`: compute slices of each busy slice.
EnergyShares split_energy(double total_j, double idle_w, Micros span,
                          std::span<const int> busy_compute);

// The counter of one board: what was used since the last reading. A counter that falls (the driver
// was loaded again) begins anew.
class BoardMeter {
 public:
  struct Step {
    double joules = 0;
    Micros span;
  };
  // Nothing at the first reading.
  std::optional<Step> read(double counter_j, Micros now);

 private:
  std::optional<double> last_j_;
  Micros last_at_;
};

}  // namespace partita::control
