// TrainState: what a training knows besides its algorithm, so that it can be stopped and taken up
// again with the same result to the bit: the phase it is in, the best model so far, and when it
// will look at the validation days next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "nn/model.h"

namespace partita::learn {

struct TrainState {
  std::string phase;           // "ppo", "evolution"
  double next_validation = 0;  // part of the phase that is done by then
  int since_best = 0;          // validations
  std::uint64_t decisions = 0;
  double best_et = 0;
  double best_energy_w_min = 0;
  std::optional<double> best_weighed;  // nothing before the first validation
  nn::Model best;                      // with best_weighed only

  bool operator==(const TrainState&) const = default;
};

// Into a checkpoint that holds the state of the algorithm; its names begin with "training.".
void add_state(const TrainState& state, nn::TensorFile& file);
Result<TrainState> read_state(const nn::TensorFile& file);

}  // namespace partita::learn
