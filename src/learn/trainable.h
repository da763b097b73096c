// Trainable: a policy that can be trained, as the trainer sees it: problems to practise on, and
// what its models say and do.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "learn/environments/env.h"
#include "learn/systems.h"
#include "learn/trainer.h"
#include "nn/model.h"
#include "nn/range_recorder.h"
#include "sim/run.h"

namespace partita::learn {

class Trainable {
 public:
  virtual ~Trainable() = default;

  // One copy of the problem for an algorithm that decides step by step. It may refer to this.
  virtual std::unique_ptr<Env> make_env(const sim::RunOptions& run) const = 0;
  // Where evolution begins when it is all there is; of other systems nothing.
  virtual nn::Network untrained() const { return {}; }

  // What the header of a model says besides who trained it.
  virtual void describe(nn::ModelFacts& facts) const = 0;
  // A day as the model runs it. What it sees goes to `seen` unless that is null.
  virtual Result<sim::RunResult> run_day(const nn::Model& model, const sim::RunOptions& run,
                                         const workload::Trace& day,
                                         nn::RangeRecorder* seen) const = 0;
  // What training is after, lower is better; `index` is of the day among training or validation
  // days.
  virtual double weigh(const sim::RunResult& day, std::uint64_t index) const = 0;
  // Whether its model tells what it saw in training.
  virtual bool is_recorded() const { return true; }
};

// For systems that decide layouts and placements. The options and the system outlive it. Fails when
// something asked for does not fit the system, or the model to record is not of it.
Result<std::unique_ptr<Trainable>> make_mix_trainable(const TrainOptions& options,
                                                      const System& system);
Result<std::unique_ptr<Trainable>> make_place_trainable(const TrainOptions& options,
                                                        const System& system);

}  // namespace partita::learn
