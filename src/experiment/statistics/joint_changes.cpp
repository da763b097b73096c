#include "experiment/statistics/joint_changes.h"

#include "base/check.h"
#include "experiment/statistics/sequential.h"

namespace partita::experiment {

JointChanges::JointChanges(std::size_t days, std::size_t comparisons)
    : days_(days), level_(SequentialRule{}.alpha / static_cast<double>(comparisons)), flips_(days) {
  CHECK(days > 0 && comparisons > 0);
}

std::optional<Relative> JointChanges::of(std::span<const double> policy,
                                         std::span<const double> reference) const {
  if (!(mean(reference) > 0)) return {};
  return Relative{mean(policy) / mean(reference) - 1,
                  flips_.ratio(policy, reference, level_).interval};
}

}  // namespace partita::experiment
