// MemoryCurve: the memory a job holds as its work proceeds, where that is not known in advance.
#pragma once

#include <algorithm>
#include <optional>

namespace partita::workload {

// Grows linearly with the work done from the start to the peak, and stays there. Work, not time: on
// a slower slice the same memory is reached later.
struct MemoryCurve {
  double start_gib = 0;
  double peak_gib = 0;   // at least the start; 0: no curve, the job's memory_gib is the truth
  double peak_at = 1;    // the fraction of the work at which the peak is reached; above 0
  double noise_gib = 0;  // a reading of it is wrong by at most this, either way

  bool grows() const { return peak_gib > 0; }

  double at(double done) const {
    return start_gib + (peak_gib - start_gib) * std::min(1.0, done / peak_at);
  }

  // The fraction of the work after which it is above the capacity; nothing when it never is.
  std::optional<double> exceeds(double capacity_gib) const {
    if (peak_gib <= capacity_gib) return {};
    if (start_gib > capacity_gib) return 0.0;
    return peak_at * ((capacity_gib - start_gib) / (peak_gib - start_gib));
  }

  bool operator==(const MemoryCurve&) const = default;
};

}  // namespace partita::workload
