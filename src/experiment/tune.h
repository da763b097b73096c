// Tuning: the best static mix or daily timetable that a local search finds on given days.
//
// The search sees only these days; what it finds is judged on others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/layout_plan.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::experiment {

struct TuneOptions {
  sim::RunOptions run;
  std::string scheduler;
  std::vector<workload::Trace> days;
  std::size_t segments = 1;  // 1: static; more: switches a day, at equal distances at first
  std::uint64_t evaluations = 2'000;  // of a plan on all days, at most; a rejected one counts less
  std::uint64_t seed = 1;
  std::size_t threads = 1;               // changes the time, not the result
  std::function<void(double)> progress;  // fraction of the evaluations spent
};

struct Tuned {
  LayoutPlan plan;
  double et = 0;        // mean over the days
  double first_et = 0;  // of the best plan with one layout for all GPUs
  double evaluations = 0;
};

// Begins with the best plan that gives every GPU the same layout, then changes one GPU of one
// segment, or moves one switch by an hour, as long as that helps; then shakes the best plan and
// tries again until the evaluations are spent. A change is tried on a quarter of the days first.
// Fails when a day cannot be run.
Result<Tuned> tune(const TuneOptions& options);

}  // namespace partita::experiment
