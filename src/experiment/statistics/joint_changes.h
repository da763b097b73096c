// JointChanges: one policy against several references on the same days, with intervals that hold
// for all of these comparisons at once.
//
// It is the test that decides in a summary (sign_flips.h), each comparison at its part of 5 %
// (Bonferroni), so what is printed here and what a page of the same runs shows are the same.
#pragma once

#include <optional>
#include <span>

#include "experiment/statistics/sign_flips.h"
#include "experiment/statistics/statistics.h"

namespace partita::experiment {

class JointChanges {
 public:
  // REQUIRES: one of each at least.
  JointChanges(std::size_t days, std::size_t comparisons);

  // Of each interval by itself.
  double confidence_each() const { return 1 - level_; }
  // Whether there are enough days for intervals.
  bool has_interval() const { return days_ >= flip_days_min(level_); }

  // mean(policy) / mean(reference) - 1. No interval where there are too few days; nothing
  // at all unless the mean of the reference is positive. REQUIRES: `days` values each, none
  // negative.
  std::optional<Relative> of(std::span<const double> policy,
                             std::span<const double> reference) const;

 private:
  std::size_t days_;
  double level_;
  SignFlips flips_;
};

}  // namespace partita::experiment
