#include "oracle/packing.h"

#include <algorithm>
#include <limits>

namespace partita::bounds {

double Packing::watts(const Counts& wanted, std::uint32_t gpus) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (std::ranges::all_of(wanted, [](int count) { return count <= 0; })) return 0;
  if (gpus == 0) return kNever;
  const auto known = known_.find({wanted, gpus});
  if (known != known_.end()) return known->second;
  double least = kNever;
  for (const Load& load : problem_.loads) {
    Counts left = wanted;
    bool useful = false;
    for (std::size_t mode = 0; mode < kModesMax; ++mode) {
      useful = useful || (left[mode] > 0 && load.count[mode] > 0);
      left[mode] = std::max(0, left[mode] - load.count[mode]);
    }
    if (!useful) continue;
    least = std::min(least, exact_watts(wanted, left) + watts(left, gpus - 1));
  }
  known_[{wanted, gpus}] = least;
  return least;
}

// Of the load only what is wanted is busy; the layout allows that.
double Packing::exact_watts(const Counts& wanted, const Counts& left) const {
  int compute = 0;
  for (std::size_t mode = 0; mode < problem_.modes.size(); ++mode) {
    compute += (wanted[mode] - left[mode]) * problem_.modes[mode].compute;
  }
  return problem_.busy_watts[static_cast<std::size_t>(compute)];
}

bool dominated(const Problem& problem, const BoundJob& job, std::size_t mode) {
  for (std::size_t other = 0; other < problem.modes.size(); ++other) {
    if (job.time[other] > 0 && problem.modes[other].compute == problem.modes[mode].compute &&
        problem.modes[other].memory < problem.modes[mode].memory) {
      return true;
    }
  }
  return false;
}

}  // namespace partita::bounds
