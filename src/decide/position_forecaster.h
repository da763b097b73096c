// PositionForecaster: a forecaster that is told where things stand before it is asked.
//
// The simulator's answers from the run itself. Where the cluster is real there is no run to copy:
// whoever controls it shows what its policies see, and what they do not see of layouts under way.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "decide/view.h"

namespace partita::decide {

// What a view does not say of a GPU's layout.
struct LayoutCourse {
  std::optional<mig::Layout> target;  // nothing: no change is under way
  Micros step_began;   // since when an instance is being made or unmade, where one is
  bool fixed = false;  // out of use: requests are not followed
};

// What whoever has seen jobs end knows beyond a view and what jobs were said to take.
struct Outlook {
  // The fraction of its work that a job is expected to have left. Nothing, or no function: as the
  // view has it; and for a job that has outlived that as long again as it was believed to need.
  std::function<std::optional<double>(JobHandle)> work_left = {};
  // What a job that comes is expected to take, in times it is said to.
  double newcomer_length = 1;
};

class PositionForecaster : public Forecaster {
 public:
  // Questions from now on are about this position, one course a GPU. All are looked at until the
  // next call, and must not change between questions that are to be compared.
  virtual void take_position(const View& view, std::span<const LayoutCourse> courses,
                             Outlook outlook) = 0;
};

}  // namespace partita::decide
