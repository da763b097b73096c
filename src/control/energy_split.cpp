#include "control/energy_split.h"

#include <algorithm>
#include <numeric>

namespace partita::control {

EnergyShares split_energy(double total_j, double idle_w, Micros span,
                          std::span<const int> busy_compute) {
  EnergyShares shares;
  const int busy = std::accumulate(busy_compute.begin(), busy_compute.end(), 0);
  shares.idle_j = busy == 0 ? total_j : std::min(total_j, idle_w * span.to_seconds());
  const double active_j = total_j - shares.idle_j;
  for (const int compute : busy_compute) {
    shares.busy_j.push_back(busy == 0 ? 0 : active_j * compute / busy);
  }
  return shares;
}

std::optional<BoardMeter::Step> BoardMeter::read(double counter_j, Micros now) {
  std::optional<Step> step;
  if (last_j_ && counter_j >= *last_j_ && now > last_at_) {
    step = Step{counter_j - *last_j_, now - last_at_};
  }
  last_j_ = counter_j;
  last_at_ = now;
  return step;
}

}  // namespace partita::control
