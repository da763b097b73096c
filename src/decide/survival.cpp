#include "decide/survival.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::decide {

bool Survival::Ended::wrong() const {
  return std::abs(length - 1) > kWrong;
}

void Survival::ended(double length, double told) {
  CHECK(std::isfinite(length) && length >= 0);
  CHECK(std::isfinite(told) && told > 0);
  if (ended_.size() == kRemembered) {
    const Ended oldest = ended_.front();
    ended_.pop_front();
    // Of equal lengths the one that came first stands first.
    ordered_.erase(std::ranges::lower_bound(ordered_, oldest.length, {}, &Ended::length));
    wrong_ -= oldest.wrong() ? 1U : 0U;
  }
  const Ended job{length, told};
  ended_.push_back(job);
  ordered_.insert(std::ranges::upper_bound(ordered_, length, {}, &Ended::length), job);
  wrong_ += job.wrong() ? 1U : 0U;
  sums_.clear();
}

// Summed anew rather than kept up to date: the answer then does not depend on what was forgotten.
void Survival::sum_up() const {
  if (!sums_.empty()) return;
  sums_.resize(ordered_.size() + 1);
  for (std::size_t i = ordered_.size(); i-- > 0;) {
    const Ended& job = ordered_[i];
    const Sums& longer = sums_[i + 1];
    sums_[i] = {longer.told + job.told, longer.told_squared + job.told * job.told,
                longer.took + job.told * job.length};
  }
}

// As many jobs of one weight would leave the mean as uncertain as those of different weights do.
double Survival::expected_left(double age, double believed) const {
  sum_up();
  const auto first = std::ranges::upper_bound(ordered_, age, {}, &Ended::length);
  const Sums& longer = sums_[static_cast<std::size_t>(first - ordered_.begin())];
  if (longer.told <= 0) return believed;
  const double jobs = longer.told * longer.told / longer.told_squared;
  const double seen = std::max(0.0, longer.took / longer.told - age);
  return (kBeliefWeight * believed + jobs * seen) / (kBeliefWeight + jobs);
}

}  // namespace partita::decide
