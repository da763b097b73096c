// DayEvolution: evolution whose score is that of the simulator over whole days.
#pragma once

#include <optional>
#include <vector>

#include "learn/algorithms/evolution.h"
#include "learn/algorithms/learner.h"
#include "learn/environments/mix_env.h"
#include "learn/trainable.h"

namespace partita::learn {

class DayEvolution : public Learner {
 public:
  // The days come from `days`, from number `first_day` on. All that is referred to outlives it.
  DayEvolution(const EvolutionOptions& options, nn::Model start, const Trainable& trainable,
               const sim::RunOptions& run, const DaySource& days, std::uint64_t first_day);

  bool finished() const override { return evolution_.finished(); }
  double part_done() const override { return evolution_.part_done(); }
  Result<Figures> learn() override;
  // Days that were run.
  std::uint64_t samples() const override { return evolution_.steps() * days_per_step_; }

  const nn::Network& policy() const override { return evolution_.policy(); }
  const nn::Normaliser& normaliser() const override { return trials_.front().normaliser; }

  bool at_checkpoint() const override { return true; }
  void state(StateFile& file) override { evolution_.state(file); }

 private:
  double score(const nn::Network& policy, std::uint64_t day, std::size_t thread);

  const Trainable& trainable_;
  const sim::RunOptions& run_;
  const DaySource& source_;
  std::uint64_t first_day_;
  std::uint64_t days_per_step_;
  std::vector<workload::Trace> days_;           // of this step
  std::vector<nn::Model> trials_;               // one a thread
  std::vector<std::optional<Error>> failures_;  // by thread
  Evolution evolution_;
};

}  // namespace partita::learn
