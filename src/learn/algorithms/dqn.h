// Dqn: deep Q-learning (Mnih et al., 2015) with replay, a target network and double estimation (van
// Hasselt et al., 2016), for environments with one choice a decision.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "learn/algorithms/adam.h"
#include "learn/algorithms/backward.h"
#include "learn/algorithms/learner.h"
#include "learn/algorithms/replay_buffer.h"
#include "learn/algorithms/running_statistics.h"
#include "nn/model.h"

namespace partita::learn {

struct DqnOptions {
  std::vector<int> hidden{64, 64};
  nn::Activation activation = nn::Activation::kRelu;
  std::uint64_t steps = 200'000;
  std::uint64_t steps_per_round = 10'000;  // between two looks at it; changes nothing it learns
  std::size_t replay = 50'000;             // transitions kept
  std::uint64_t first_steps = 1'000;       // at random, before learning begins
  std::uint64_t steps_per_update = 4;
  std::uint64_t updates_per_target = 250;  // between two copies into the target network
  std::size_t batch = 64;
  double discount = 0.99;
  double learning_rate = 1e-3;
  double learning_rate_end = 1e-4;
  double random_share = 1.0;  // of decisions, falling to `random_share_end`
  double random_share_end = 0.02;
  double random_part = 0.4;  // the part of training over which it falls
  double gradient_norm_max = 10;
  bool double_estimate = true;
  bool normalise_observations = true;
  std::uint64_t seed = 1;
};

class Dqn : public Learner {
 public:
  Dqn(DqnOptions options, std::unique_ptr<Env> env);

  bool finished() const override { return steps_ >= options_.steps; }
  double part_done() const override {
    return static_cast<double>(steps_) / static_cast<double>(options_.steps);
  }
  // Gives the mean reward of the episodes that ended, the mean loss of the updates, and the share
  // of random decisions and the learning rate at the end.
  Figures advance(std::uint64_t steps);
  Result<Figures> learn() override { return advance(options_.steps_per_round); }
  std::uint64_t samples() const override { return steps_; }

  // Its outputs are the values of the choices; the best is the largest that is allowed.
  const nn::Network& policy() const override { return network_; }
  const nn::Normaliser& normaliser() const override { return normaliser_; }

  bool at_checkpoint() const override { return true; }
  void state(StateFile& file) override;

 private:
  double random_share() const {
    return anneal(options_.random_share, options_.random_share_end,
                  part_done() / options_.random_part);
  }
  double learning_rate() const {
    return anneal(options_.learning_rate, options_.learning_rate_end, part_done());
  }
  void begin_episode();
  void observe();
  Step take(std::uint16_t choice);
  // Brings the environment to where it was, by the choices that led there; false where they end
  // the episode.
  bool replay_episode();
  std::uint16_t choose();
  double update();
  void gather();
  void set_targets();

  DqnOptions options_;
  std::unique_ptr<Env> env_;
  EnvSpec spec_;
  Rng rng_;
  nn::Network network_;
  nn::Network target_;
  Adam adam_;
  Replay replay_;
  RunningStatistics observed_;
  nn::Normaliser normaliser_;
  std::uint64_t steps_ = 0;
  std::uint64_t updates_ = 0;
  std::uint64_t episode_ = 0;
  double episode_reward_ = 0;
  std::vector<std::uint16_t> episode_choices_;  // so far

  std::vector<float> raw_;  // the present observation
  std::vector<float> before_;
  std::vector<std::uint8_t> allowed_;
  std::vector<std::uint16_t> draws_;
  std::vector<std::uint16_t> table_;
  nn::Floats seen_;  // normalised
  std::vector<std::size_t> chosen_;
  nn::Floats states_;
  nn::Floats nexts_;
  std::vector<float> targets_;
  nn::Floats output_gradient_;
  nn::Floats gradient_;
  nn::Activations acting_;
  nn::Activations activations_;
  nn::Activations next_activations_;
  nn::Activations target_activations_;
  Backward backward_;
};

}  // namespace partita::learn
