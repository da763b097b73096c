// LearningDays: which days are learned from, and which say what of it is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "experiment/day_source.h"

namespace partita::experiment {

struct LearningDays {
  std::vector<workload::Trace> validation;
  // Of an episode; none of them is a validation day, and none is empty.
  std::function<workload::Trace(std::uint64_t episode)> training;
};

// From the sources in turn. A generator has days for everyone; of the windows of a trace that may
// be learned from, at most the first half is for validation. Fails when there are too few windows,
// or no jobs on the validation days. REQUIRES: a source.
Result<LearningDays> learning_days(std::vector<DaySource> sources, std::uint64_t validation_days);

}  // namespace partita::experiment
