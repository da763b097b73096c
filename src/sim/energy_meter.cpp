#include "sim/energy_meter.h"

namespace partita::sim {

std::int64_t EnergyMeter::compute_slice_micros() const {
  std::int64_t total = 0;
  for (std::size_t level = 0; level < kLevels; ++level) {
    total += at_level_[level] * static_cast<std::int64_t>(level);
  }
  return total;
}

double EnergyMeter::joules(const mig::PowerCurve& power) const {
  double total = 0;
  for (std::size_t level = 0; level < power.watts.size() && level < kLevels; ++level) {
    total += power.watts[level] * Micros{at_level_[level]}.to_seconds();
  }
  return total;
}

}  // namespace partita::sim
