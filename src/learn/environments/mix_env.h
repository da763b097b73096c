// MixEnv: a day of jobs on a fleet, whose mix of layouts is decided every few events.
//
// It is the simulator itself (sim/clockwork.h) under the rules of the learned repartitioner
// (policies/learned/mix_rules.h), so what is learned is what will run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decide/scheduler.h"
#include "learn/environments/env.h"
#include "policies/learned/mix_rules.h"
#include "sim/clockwork.h"
#include "sim/run.h"

namespace partita::learn {

// The jobs of the episode of that number.
using DaySource = std::function<workload::Trace(std::uint64_t episode)>;

struct MixEnvOptions {
  sim::RunOptions run;
  std::string scheduler;
  const policies::MixRules* rules = nullptr;
  DaySource days;
  // Energy counts this many times as much in the reward as in ET; of several, the episode's turn.
  std::vector<double> energy_weights{1};
  // Taken from the reward for every GPU that is asked to change, in minutes of tardiness of one
  // job.
  double change_cost_min = 0;
  // Tardiness is charged when it becomes unavoidable, not when the job completes. The sum over a
  // day is the same.
  bool early_tardiness = true;
};

class MixEnv : public Env {
 public:
  explicit MixEnv(MixEnvOptions options);

  EnvSpec spec() const override;
  void begin(std::uint64_t episode) override;
  void observe(std::span<float> observation, std::span<std::uint8_t> allowed,
               std::span<std::uint16_t> draws) override;
  Step step(std::span<const std::uint16_t> table) override;

  // ET of the day that has just ended. REQUIRES: the last step was its last.
  double last_et() const { return last_et_; }

 private:
  // The repartitioner of the run: asked as any other, it asks for what step() was told.
  class Hand : public decide::Repartitioner {
   public:
    explicit Hand(const policies::MixRules& rules) : state(rules), rules_(rules) {}

    std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
      return state.begin(view.cluster.gpu_count());
    }
    std::optional<Micros> next_time(Micros) const override { return {}; }
    std::uint64_t every_events() const override { return rules_.every_events; }
    bool watches_arrivals() const override { return true; }
    void job_arrived(const decide::View& view, cluster::JobHandle) override {
      state.job_arrived(view.now);
    }
    void decide(const decide::View&, std::vector<decide::LayoutRequest>& asked) override {
      asked.insert(asked.end(), requests.begin(), requests.end());
    }

    policies::MixState state;
    std::vector<decide::LayoutRequest> requests;

   private:
    const policies::MixRules& rules_;
  };

  // Lets time pass up to the next decision; false when the day is over.
  bool run_to_decision();
  // Minus ET so far: energy until now, and tardiness of jobs done and present.
  double score();
  void end_day();

  MixEnvOptions options_;
  sim::RunOptions run_;
  std::unique_ptr<decide::Scheduler> scheduler_;
  workload::Trace day_;
  Hand hand_;
  std::unique_ptr<sim::Clockwork> clock_;
  double energy_weight_ = 1;
  double score_ = 0;
  double last_et_ = 0;
};

}  // namespace partita::learn
