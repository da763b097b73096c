// PlanSearch: the plan with the least mean ET on some windows that a local search finds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "experiment/tuning/job_needs.h"
#include "experiment/tuning/mix_plan.h"
#include "experiment/tuning/plan_scores.h"

namespace partita::experiment {

struct SearchOptions {
  std::uint32_t gpus = 1;
  std::size_t segments = 1;  // 1: a static mix; more: switches a day
  std::uint64_t evaluations =
      1'000;  // of a plan on all windows, at most; one dropped early is less
  // By how many standard errors of the differences a change must help. Small gains on few windows
  // are mostly luck, and many of them together are worse than none on other windows.
  double caution = 1;
  std::vector<Mix> known_mixes = {};  // to begin with as well, where they meet the needs
  std::uint64_t seed = 1;
  std::function<void(double)> progress = {};  // fraction of the evaluations spent
};

struct FoundPlan {
  MixPlan plan;
  MixPlan start;                     // the best of the first mixes
  std::optional<MixPlan> runner_up;  // the best other one of those tried on all windows
  double evaluations = 0;
};

// Looks at the windows of these indices and at no others, so that the rest can judge what it finds;
// what jobs need is all that it is told of every window.
//
// Begins with the best of JobNeeds::first_mixes and of the known mixes, then gives some GPUs of one
// segment another layout, or moves a switch by an hour, as long as that helps: many GPUs at a time
// at first, then fewer. Of each handful of changes the best is made. Windows are tried in an order
// of which every beginning has hard and easy ones alike, and a change is dropped when it is worse
// on those seen so far by more than chance, or cannot make up for it. Then the best plan is shaken
// and it begins again, until the evaluations are spent, or half of them are and shaking has not
// helped for some time. Only plans that meet the needs are tried.
//
// Fails when so few GPUs cannot run every job, or no plan that was tried could.
Result<FoundPlan> search_plan(PlanScores& scores, const JobNeeds& needs,
                              std::span<const std::size_t> windows, const SearchOptions& options);

}  // namespace partita::experiment
