// Evolution: improves a policy by trying it with small random changes of its parameters (evolution
// strategies, Salimans et al., 2017).
//
// The whole day is judged by the score that will be reported, and the policy acts as it will when
// it runs, without drawing: what is improved is what is used. Changes come in pairs of opposite
// sign, and all of a step meet the same days, so that luck cancels.
#pragma once

#include <cstdint>
#include <functional>

#include "learn/algorithms/adam.h"
#include "learn/algorithms/state_file.h"
#include "nn/network.h"

namespace partita::learn {

struct EvolutionOptions {
  std::uint64_t steps = 200;
  int pairs = 16;        // of changed policies at a step
  int days = 2;          // each of them is tried on
  double spread = 0.03;  // standard deviation of the changes
  double learning_rate = 0.01;
  double learning_rate_end = 0.002;
  std::uint64_t seed = 1;
  // Pairs are tried by so many threads; the result does not depend on it.
  std::size_t threads = 1;
};

// The score of the policy on the day of that number; lower is better. Threads have their numbers,
// and may call it at the same time.
using DayScore =
    std::function<double(const nn::Network& policy, std::uint64_t day, std::size_t thread)>;

class Evolution {
 public:
  Evolution(EvolutionOptions options, nn::Network start, DayScore score);

  bool finished() const { return steps() >= options_.steps; }
  double part_done() const {
    return static_cast<double>(steps()) / static_cast<double>(options_.steps);
  }
  // Tries all pairs once and moves. Gives the mean score of what was tried.
  double step();

  // All that the next step depends on.
  void state(StateFile& file);

  const nn::Network& policy() const { return policy_; }
  std::uint64_t steps() const { return adam_.steps(); }

 private:
  double score_with(std::span<const float> noise, double sign, std::size_t thread);

  EvolutionOptions options_;
  nn::Network policy_;
  std::vector<nn::Network> trials_;  // one a thread
  DayScore score_;
  Adam adam_;
  std::vector<float> noise_;         // of all pairs
  std::vector<double> differences_;  // by pair
  std::vector<double> sums_;
  std::vector<float> gradient_;
};

}  // namespace partita::learn
