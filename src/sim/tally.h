// Tally: what is counted of each completed job, and the summary of all.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sim/run.h"

namespace partita::sim {

// Sums are integers, so they are exact and do not depend on the order of completions.
class Tally {
 public:
  void reserve(std::size_t jobs) { tardiness_.reserve(jobs); }

  void add(Micros wait, Micros tardiness) {
    const std::int64_t late = tardiness.count > 0 ? tardiness.count : 0;
    wait_sum_ += wait.count;
    tardiness_sum_ += late;
    tardiness_.push_back(late);
  }
  void clear() {
    wait_sum_ = tardiness_sum_ = 0;
    tardiness_.clear();
  }
  Micros tardiness_sum() const { return {tardiness_sum_}; }

  // Fills the job figures of the result; reorders what it holds.
  void summarise(RunResult& result);

 private:
  double quantile_seconds(double share);

  std::int64_t wait_sum_ = 0;
  std::int64_t tardiness_sum_ = 0;
  std::vector<std::int64_t> tardiness_;
};

}  // namespace partita::sim
