// PlaceEnv: a day of jobs on fixed layouts, where a slice is chosen for the waiting job with the
// earliest deadline (the technical report's problem).
//
// It is the simulator itself (sim/clockwork.h) under the rules of the learned scheduler
// (policies/learned/slice_scheduler.h), so what is learned is what will run. No allocation from one
// decision to the next once the day has been as busy as it gets.
#pragma once

#include <memory>
#include <vector>

#include "learn/environments/env.h"
#include "learn/environments/mix_env.h"
#include "policies/learned/slice_scheduler.h"
#include "sim/clockwork.h"

namespace partita::learn {

enum class PlaceReward : std::uint8_t {
  // As published (ENHANCED): a little for large slices and for jobs that will be on time, more for
  // jobs done on time, minus tardiness when jobs complete; the day's figures at its end.
  kPublished,
  // What becomes of ET: energy as it is used and tardiness when it becomes unavoidable. Nothing is
  // paid for large slices, and nothing is left for the end.
  kCorrected,
};

struct PlaceEnvOptions {
  sim::RunOptions run;
  std::vector<mig::Layout> layouts;  // one a GPU
  DaySource days;
  PlaceReward reward = PlaceReward::kPublished;
  double energy_weight = 1;  // kCorrected: energy counts this many times as much as in ET
  double late_cost_min = 0;  // kCorrected: charged for a late job besides its tardiness
};

class PlaceEnv : public Env {
 public:
  explicit PlaceEnv(PlaceEnvOptions options);

  EnvSpec spec() const override;
  void begin(std::uint64_t episode) override;
  void observe(std::span<float> observation, std::span<std::uint8_t> allowed,
               std::span<std::uint16_t> draws) override;
  Step step(std::span<const std::uint16_t> table) override;

  // Of the day that has just ended. REQUIRES: the last step was its last.
  const sim::RunResult& last_day() const { return last_day_; }
  // The compute slices of the instances, as the model's header has them.
  std::string slices() const;

 private:
  // Stands in for the policy: carries out what was chosen, and counts what completes.
  class Hands : public decide::Scheduler {
   public:
    void begin(const decide::View& view) override { queue.begin(view); }
    void job_arrived(const decide::View& view, cluster::JobHandle job) override {
      queue.enter(view, job);
    }
    void job_stopped(const decide::View& view, cluster::JobHandle job) override {
      queue.enter(view, job);
    }
    void job_done(const decide::View& view, cluster::JobHandle job) override;
    void job_withdrawn(const decide::View& view, cluster::JobHandle job) override;
    void job_returned(const decide::View& view, cluster::JobHandle job) override;
    void layout_changed(const decide::View& view) override { queue.layout_changed(view); }
    void decide(const decide::View& view, decide::Decision& decision) override;

    policies::SliceQueue queue;
    std::vector<decide::Move> moves;
    std::uint64_t early = 0;   // jobs done by their deadline
    std::uint64_t late = 0;    // and later
    double tardiness_min = 0;  // of those done
  };

  // Lets time pass up to the next choice; false when the day is over.
  bool run_to_choice();
  double published_reward(std::size_t slice, bool on_time);
  double corrected_score();
  double terminal_reward() const;

  PlaceEnvOptions options_;
  sim::RunOptions run_;
  Hands hands_;
  workload::Trace day_;
  std::unique_ptr<sim::Clockwork> clock_;
  std::size_t width_ = 0;
  std::vector<std::uint8_t> allowed_;
  cluster::JobHandle next_;
  bool decided_ = true;  // what has happened at this instant has been decided upon
  std::uint64_t early_before_ = 0;
  double tardiness_before_ = 0;
  double score_ = 0;
  sim::RunResult last_day_;
};

}  // namespace partita::learn
