#include "experiment/learning_days.h"

#include <algorithm>

#include "base/check.h"

namespace partita::experiment {
namespace {

Result<workload::Trace> training_day(const DaySource& source, std::uint64_t index,
                                     std::uint64_t validation_days) {
  const std::uint64_t limit = source.tune_days_max;
  if (limit == kDaysMax) return source.make(day_seed(Role::kTrain, index % kDaysMax));
  const std::uint64_t kept = std::min(validation_days, limit / 2);
  return source.make(day_seed(Role::kTune, kept + index % (limit - kept)));
}

}  // namespace

Result<LearningDays> learning_days(std::vector<DaySource> sources, std::uint64_t validation_days) {
  LearningDays days;
  for (std::uint64_t day = 0; day < validation_days; ++day) {
    const DaySource& source = sources[day % sources.size()];
    if (source.tune_days_max < 2) {
      return Error{"the trace has too few windows to learn from; wanted three at least"};
    }
    if (source.tune_days_max < kDaysMax && day >= source.tune_days_max / 2) break;
    auto made = source.make(day_seed(Role::kTune, day));
    if (!made) return made.error();
    if (!made->jobs.empty()) days.validation.push_back(*std::move(made));
  }
  if (days.validation.empty()) {
    return Error{"no jobs come on the validation days; training needs some"};
  }
  days.training = [sources = std::move(sources), validation_days](std::uint64_t episode) {
    for (std::uint64_t index = episode;; ++index) {
      auto day = training_day(sources[index % sources.size()], index, validation_days);
      CHECK(day.ok());  // the validation days come from the same source
      // An empty day teaches nothing; the next one stands in.
      if (!day->jobs.empty()) return *std::move(day);
    }
  };
  return days;
}

}  // namespace partita::experiment
