// Learner: an algorithm that improves a policy round by round, as the trainer drives it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "learn/algorithms/state_file.h"
#include "nn/model.h"

namespace partita::learn {

// Of one round, by name, for the log.
using Figures = std::vector<std::pair<std::string, double>>;

class Learner {
 public:
  virtual ~Learner() = default;

  virtual bool finished() const = 0;
  virtual double part_done() const = 0;
  // One round. Fails when a day cannot be run.
  virtual Result<Figures> learn() = 0;
  // Decisions learned from so far, or whole days.
  virtual std::uint64_t samples() const = 0;

  virtual const nn::Network& policy() const = 0;
  virtual const nn::Normaliser& normaliser() const = 0;

  // Whether the state can be saved between this round and the next.
  virtual bool at_checkpoint() const = 0;
  // Names all that the next rounds depend on: a learner that has read it continues to the bit as
  // the one that wrote it. REQUIRES: at_checkpoint() when writing; a new learner when reading.
  virtual void state(StateFile& file) = 0;
};

}  // namespace partita::learn
