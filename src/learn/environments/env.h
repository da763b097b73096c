// Env: one copy of a decision problem that a policy learns by trying. The interface a new problem
// implements.
//
// A decision is a table: for each of `rows` kinds of things, how many of them take each of
// `choices`. With one row and one thing it is the usual choice of an action. With a row for each
// layout and as many things in it as GPUs have that layout, it is a mean-field decision: GPUs of
// one kind are alike, so only their number matters, and the table does not grow with the fleet.
#pragma once

#include <cstdint>
#include <span>

#include "nn/choice_table.h"

namespace partita::learn {

struct EnvSpec {
  int observation = 0;  // numbers
  nn::TableShape table;

  bool operator==(const EnvSpec&) const = default;
};

// What is given for one decision; `reward` is of the time since the decision before.
struct Step {
  float reward = 0;
  bool done = false;  // the episode is over; the next observation is of a new one
};

class Env {
 public:
  virtual ~Env() = default;

  virtual EnvSpec spec() const = 0;

  // Begins the episode of that number: the same number is the same episode.
  virtual void begin(std::uint64_t episode) = 0;

  // What the policy sees now; which choices are allowed (1) in the table, at least one in a row
  // with draws; and how many things each row has. REQUIRES of the spans: the sizes of the spec.
  virtual void observe(std::span<float> observation, std::span<std::uint8_t> allowed,
                       std::span<std::uint16_t> draws) = 0;

  // Carries out a decision: how many things of each row take each choice.
  virtual Step step(std::span<const std::uint16_t> table) = 0;
};

}  // namespace partita::learn
