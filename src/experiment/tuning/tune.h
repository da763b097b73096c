// Tuning: the best static mix or daily timetable a search finds on given windows of jobs, and how
// sure that is, by cross-validation.
//
//   TuneOptions options;
//   options.references = {"none"};
//   const Result<TunedMix> tuned = tune_mix(windows, {run, "mdd", seed}, options);
//
// The search (plan_search.h) is repeated without each fold of windows in turn, and what it finds is
// judged on the fold it did not see: together these are the ET to expect of windows to come.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/tuning/mix_plan.h"
#include "experiment/tuning/plan_scores.h"
#include "workload/job.h"

namespace partita::experiment {

struct TuneOptions {
  std::size_t segments = 1;  // 1: static; more: switches a day, at equal distances at first
  std::uint64_t evaluations = 1'000;  // of each search; see SearchOptions
  double caution = 1;                 // see SearchOptions
  // Blocks of neighbouring windows that are left out in turn; as many as windows where those are
  // fewer. Below 2: no cross-validation.
  std::size_t folds = 5;
  // As --repartition takes them; run on every window, and a search begins with the static ones too.
  std::vector<std::string> references = {};
  // Windows that nothing is tuned on, but whose jobs must fit the plan as well: those that it will
  // be judged on.
  std::span<const workload::Trace> also_to_fit = {};
  std::uint64_t seed = 1;
  std::size_t threads = 1;                    // changes the time, not the result
  std::function<void(double)> progress = {};  // fraction done
};

struct Fold {
  std::vector<std::size_t> left_out;  // windows
  MixPlan plan;                       // tuned on the others
  MixPlan start;                      // the best of the first mixes on the others
};

// Another way to cut the GPUs, on all windows.
struct Reference {
  std::string repartition;
  std::vector<double> et;  // by window; empty where it cannot run every job
  std::string reason;      // then: why not
};

struct TunedMix {
  MixPlan plan;            // tuned on all windows
  std::vector<double> et;  // of it by window, all of which it saw
  MixPlan start;  // the best of the mixes it began with: one layout for all, if that can be
  std::vector<double> start_et;
  std::optional<MixPlan> runner_up;  // the best other one of those tried on all windows
  std::vector<double> runner_up_et;

  std::vector<Fold> folds;  // empty without cross-validation
  // By window, of the plans that the fold found which left it out. Empty without folds, or where
  // such a plan could not run every job; then unseen_reason says why.
  std::vector<double> unseen_et;
  std::vector<double> unseen_start_et;
  std::string unseen_reason;

  std::vector<Reference> references;
  double evaluations = 0;  // of the search on all windows
  std::uint64_t runs = 0;  // simulations of everything

  // Folds that chose the very same plan.
  std::size_t folds_agreeing() const;
  // The share of the GPUs, over the day, that have the same layout in a fold's plan; its mean over
  // the folds. REQUIRES: there are folds.
  double share_agreed() const;
};

// Which windows are left out together: blocks, since neighbours are alike; sizes differ by one at
// most. Empty when there are fewer than two windows or folds.
std::vector<std::vector<std::size_t>> blocks_of_windows(std::size_t windows, std::size_t folds);

// The plan can run every job of the windows. Fails when there is no window, a job fits no layout,
// so few GPUs cannot run every job, or no plan that was tried can. REQUIRES: the scheduler is
// known.
Result<TunedMix> tune_mix(std::span<const workload::Trace> windows, const TuneSetting& setting,
                          const TuneOptions& options);

}  // namespace partita::experiment
