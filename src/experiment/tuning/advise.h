// Advice: which policy a fleet should run for jobs like these, what that changes, and why.
//
// Windows are of two kinds: on those to tune on, mixes are searched and one policy of a portfolio
// is chosen; on the others, which nothing has seen, it is judged against what is done today. So the
// figures that are given are not flattered by the choice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/day_source.h"
#include "experiment/results/run_record.h"
#include "experiment/statistics/statistics.h"
#include "sim/run.h"

namespace partita::experiment {

// Windows, of which every third is tuned on, so that there are three of each kind.
inline constexpr std::size_t kAdviseWindowsMin = 9;

struct AdvisedPolicy {
  std::string name;
  std::string scheduler;
  std::string repartition;
  decide::Preemption preemption = {decide::Preemption::Mode::kNone, {}};

  bool operator==(const AdvisedPolicy& other) const {
    return scheduler == other.scheduler && repartition == other.repartition &&
           preemption.mode == other.preemption.mode && preemption.cost == other.preemption.cost;
  }
};

struct AdviseOptions {
  sim::RunOptions run;  // the fleet and what counts; its preemption is not used
  // What a checkpoint and a restart cost together. Nothing: jobs are never interrupted.
  std::optional<Micros> checkpoint_cost;
  std::vector<AdvisedPolicy> today = {};         // none: what is usual
  bool look_ahead = true;                        // try layouts that change, looking ahead
  std::vector<std::string> repartitioners = {};  // and these, as --repartition has them
  std::uint64_t evaluations = 400;               // of each search for a mix
  std::uint64_t windows_max = 60;                // of each kind, evenly taken
  std::uint64_t bound_windows = 5;               // on which the bound is computed
  double bound_seconds = 60;                     // for all of them together, by this clock
  std::function<double()> clock = {};            // seconds; without one no limit strikes
  std::uint64_t seed = 1;
  std::size_t threads = 1;                    // changes the time, not the result
  std::function<void(double)> progress = {};  // fraction done
};

// A policy on a number of windows.
struct TriedPolicy {
  AdvisedPolicy policy;
  std::vector<RunRecord> runs;     // by window; empty when it cannot run every job
  std::vector<double> p95_wait_s;  // likewise
  std::string cannot_run;          // then: why
  std::string remark = {};         // why it was chosen or not

  bool ran() const { return !runs.empty(); }
  std::vector<double> values(double RunRecord::*figure) const;
  double mean_et() const;
};

// What one part of the advice does to ET by itself, as an average over the orders in which the
// parts can be put in (Shapley's value of its logarithm): -0.2 is 20 % lower.
struct Driver {
  std::string part;  // order, preemption, layout
  double change = 0;
};

// With run times that policies are told wrong.
struct WrongEstimates {
  double error = 0;  // standard deviation of the logarithm of the factor
  double et_advised = 0;
  std::optional<double> et_today;  // where one of today's policies can run every job
};

struct Advice {
  AdvisedPolicy advised;
  bool static_is_enough = false;  // layouts that change did not pay
  std::string no_static;          // why no static mix can run every job; empty where one can
  std::size_t tune_windows = 0;
  std::size_t test_windows = 0;
  Micros window;            // length of one; each begins with idle GPUs
  double overrun = 0;       // mean time from first arrival to last completion, in windows
  bool keep_today = false;  // the choice is one of today's policies
  std::vector<TriedPolicy> portfolio;  // on the windows to tune on, best first
  TriedPolicy judged;                  // on the others, as all that follows
  std::vector<TriedPolicy> today;
  std::optional<std::size_t> compared_with;  // of today's, the best one that can run every job
  // From the best of today's that has no instance made for each job: the placement belongs to that,
  // and no half of it can be run. Empty where there is no such one, or it is the advice itself.
  std::vector<Driver> drivers;
  std::string drivers_from;
  std::vector<WrongEstimates> wrong;
  std::vector<RunRecord> bounds;     // of the first windows
  double bound_gap = 0;              // ET of the advice above the bound, as a share of it, there
  std::size_t bounds_cut_short = 0;  // of these windows, by bound_seconds
};

// The windows of a trace, the longest that leave enough to tune on: days, unless the jobs span only
// a few. `share` is of the jobs (day_source.h). Where no length makes enough, the one that makes
// most; fails when none makes any.
Result<DaySource> days_to_advise_on(const workload::Trace& trace, const std::string& name,
                                    double share);

// A policy that cannot run every job is left out, a static mix that cannot be as well. Fails when
// the days have too few windows, or when nothing can run all jobs.
Result<Advice> advise(const DaySource& days, const AdviseOptions& options);

}  // namespace partita::experiment
