// Apparent tardiness cost: short jobs first, the more so the nearer their last possible start.
#pragma once

#include "policies/job_order.h"

namespace partita::policies {

// Index of Vepsalainen and Morton (1987) with equal weights: exp(-max(0, d - p - now) / (k * mean
// p)) / p, largest first; p is the time still needed on the fastest slice, the mean is over the
// jobs of the round.
class ApparentTardiness : public JobOrder {
 public:
  static constexpr double kLookAhead = 2.0;  // k; 1.5 to 4.5 in the literature, 2 is usual

  KeyChange key_change() const override { return KeyChange::kWithTime; }
  void begin_round(std::span<const Candidate> candidates) override;
  std::int64_t key(const Candidate& candidate) const override;

 private:
  double mean_remaining_ = 1;
};

}  // namespace partita::policies
