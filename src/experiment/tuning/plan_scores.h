// PlanScores: the ET of layout plans on windows of jobs; each is simulated once, on all threads.
//
// Several searches share one of these: what one has simulated, the others look up.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiment/tuning/mix_plan.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::experiment {

// Under which policy and rules plans are judged.
struct TuneSetting {
  sim::RunOptions run;
  std::string scheduler;
  std::uint64_t seed = 1;  // of schedulers that draw random numbers
};

// The ET of a plan that cannot run every job of a window: more than any that can, but finite, so
// that of two such plans the one that fails less often is the better.
inline constexpr double kCannotRun = 1e15;

class PlanScores {
 public:
  // REQUIRES: the scheduler is known; the windows outlive this.
  PlanScores(std::span<const workload::Trace> windows, TuneSetting setting, std::size_t threads)
      : windows_(windows), setting_(std::move(setting)), threads_(threads) {}

  struct Pair {
    MixPlan plan;
    std::size_t window = 0;
  };

  // Simulates those of the pairs that are not known yet. Neither the order nor the number of
  // threads changes a figure.
  void simulate(const std::vector<Pair>& pairs);

  // What simulate() found out. REQUIRES: it was asked for this pair.
  double et(const MixPlan& plan, std::size_t window) const;

  // Of each window, simulated where it has to be.
  std::vector<double> all(const MixPlan& plan, std::span<const std::size_t> windows);

  // The same for a repartitioner as --repartition takes it. Fails when a window cannot be run.
  Result<std::vector<double>> of_text(const std::string& repartition);

  std::size_t windows() const { return windows_.size(); }
  std::uint64_t runs() const { return runs_; }
  // Why a plan could not run a window, the first time.
  const std::string& reason() const { return reason_; }

 private:
  Result<double> run(std::size_t window, decide::Repartitioner& repartitioner) const;

  std::span<const workload::Trace> windows_;
  TuneSetting setting_;
  std::size_t threads_;
  std::map<MixPlan, std::vector<double>> known_;  // by window; NaN: not yet
  std::uint64_t runs_ = 0;
  std::string reason_;
};

}  // namespace partita::experiment
