// JobLengths: how long jobs really run against what was said of them, learnt from those that ended.
//
// Only first attempts count: what a later one has of an earlier one is not known for certain.
#pragma once

#include <optional>

#include "control/control_state.h"
#include "decide/survival.h"

namespace partita::control {

class JobLengths {
 public:
  explicit JobLengths(const ControlState& state) : state_(state) {}

  // The job is done, at its first attempt, and still holds its slice.
  void learn(const Job& job);
  // What forecasts reckon with, once jobs that ended have shown that estimates are wrong. Valid as
  // long as this object.
  decide::Outlook outlook() const;

 private:
  double age_of(const Job& job) const;
  std::optional<double> work_left_of(cluster::JobHandle handle) const;

  const ControlState& state_;
  decide::Survival survival_;
};

}  // namespace partita::control
