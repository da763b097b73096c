// MixPlan: how many GPUs have which numbered layout at which time of the day.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "policies/repartitioners/timetable.h"

namespace partita::experiment {

// Layout numbers, ascending; one a GPU. Which GPU has which is the plan's business.
using Mix = std::vector<int>;

struct PlanSegment {
  Micros from;  // time of day
  Mix mix;

  auto operator<=>(const PlanSegment&) const = default;
};

// One segment is a static mix; several are a timetable. Segments are in order of time.
struct MixPlan {
  std::vector<PlanSegment> segments;

  auto operator<=>(const MixPlan&) const = default;
};

// The layout numbers of every GPU in each segment, arranged so that from one segment to the next as
// many GPUs as can be keep theirs.
std::vector<std::vector<int>> assign_gpus(const MixPlan& plan);

// As --repartition takes it: "static:1,2,2" or "timetable:08:00=1,2,2,20:00=2,2,6".
std::string to_text(const MixPlan& plan);

// REQUIRES: the numbers exist for the model.
std::unique_ptr<decide::Repartitioner> repartitioner_of(const MixPlan& plan,
                                                        const mig::GpuModel& model);

}  // namespace partita::experiment
