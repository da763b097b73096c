// Trainer: makes a model of a system: training days in, the model that did best on validation days
// out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/environments/mix_env.h"
#include "learn/environments/place_env.h"
#include "learn/systems.h"
#include "nn/model.h"
#include "sim/run.h"

namespace partita::learn {

struct TrainOptions {
  const System* system = nullptr;
  sim::RunOptions run;
  std::string scheduler;
  std::string menu;  // empty: that of the system
  // A mix to begin with, for example one that was tuned: it becomes the first of the menu, the
  // fleet has it when a day begins and the untrained network asks for it. What is learned is when
  // to leave it, by evolution alone: decisions that are drawn would pay for every change. Empty:
  // none.
  std::string from;
  Micros rest;          // a GPU that has changed is left alone for so long
  std::string without;  // pieces of the system to leave out (learn/pieces.h, place_rules.h)
  // Systems that place jobs: the layouts underneath.
  std::string repartition;
  double late_cost_min = 0;  // charged for a late job besides its tardiness
  PlaceReward reward = PlaceReward::kPublished;
  std::vector<int> hidden;  // layers; none: those of the system
  int epochs = 0;           // of PPO; 0: those of the system
  std::size_t threads = 1;
  DaySource days;  // of training
  std::vector<workload::Trace> validation;
  std::uint64_t steps = 0;  // decisions; 0: as many as the system says
  std::uint64_t evolution_steps = 0;
  bool evolves = true;  // false: without the second part
  // Of day i the weight i modulo their number counts: loads that take turns can differ in how dear
  // energy is.
  std::vector<double> energy_weights{1};
  double change_cost_min = 0;
  std::uint64_t seed = 1;
  int validations = 20;  // over each part of the training
  int patience = 8;      // validations without a better model before it stops
  std::string command;   // for the header of the model
  std::string commit;

  // A line of JSON for every validation.
  std::function<void(const std::string&)> log;
  std::function<void(double)> progress;
  // Called with the state of training whenever it can be saved; and such a state to resume from:
  // what comes out is then the same to the bit.
  std::function<Status(const nn::TensorFile&)> checkpoint;
  const nn::TensorFile* resume = nullptr;
  // A model of the system to run over training days instead of training one: what comes out is that
  // model with the record of what it saw.
  const nn::Model* record = nullptr;
};

// Training days over which a model is run at the end for the record of what it sees there.
inline constexpr std::uint64_t kRecordDays = 40;

struct Trained {
  nn::Model model;
  double validation_et = 0;
  double validation_energy_w_min = 0;
  std::uint64_t decisions = 0;  // learned from; or whole days, see `unit`
  std::string unit = "decisions";
  bool stopped_early = false;
};

// Fails when a day cannot be run or a checkpoint does not fit.
Result<Trained> train(const TrainOptions& options);

}  // namespace partita::learn
