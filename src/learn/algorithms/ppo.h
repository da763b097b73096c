// Ppo: proximal policy optimisation (Schulman et al., 2017) with clipping, generalised advantages,
// masks, minibatches, and a learning rate and entropy bonus that fall as training goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/algorithms/adam.h"
#include "learn/algorithms/backward.h"
#include "learn/algorithms/experience.h"
#include "learn/algorithms/learner.h"
#include "nn/model.h"

namespace partita::learn {

struct PpoOptions {
  std::vector<int> hidden{64, 64};
  nn::Activation activation = nn::Activation::kTanh;
  std::uint64_t steps = 1'000'000;    // of all environments together
  std::size_t steps_per_round = 128;  // of one environment, between two updates
  std::size_t minibatch = 2048;       // samples
  int epochs = 4;
  double discount = 0.99;
  double lambda = 0.95;
  double clip = 0.2;
  double value_weight = 0.5;
  double gradient_norm_max = 0.5;
  double learning_rate = 3e-4;
  double learning_rate_end = 1e-5;
  double entropy = 0.01;
  double entropy_end = 0.001;
  int top = 0;  // draw from the `top` most likely choices of a row only; 0: from all
  bool normalise_observations = true;
  // Rounds between two moments at which training can be stopped and resumed. All episodes
  // start over then, whether it is stopped or not, so that both ways give the same model.
  std::uint64_t rounds_per_checkpoint = 50;
  std::uint64_t seed = 1;
  // To play and learn with; the result does not depend on it. More than four are of no use.
  std::size_t threads = 1;
};

// One round, for the log.
struct PpoReport {
  std::uint64_t round = 0;
  std::uint64_t steps = 0;  // so far
  std::uint64_t episodes = 0;
  double episode_reward = 0;  // mean over the episodes that ended in this round
  double policy_loss = 0;
  double value_loss = 0;
  double entropy = 0;
  double divergence = 0;     // of the new policy from the one that acted (approximate KL)
  double clipped_share = 0;  // of samples
  double explained = 0;      // share of the variance of returns that the value network explains
  double learning_rate = 0;
  double entropy_weight = 0;
};

class Ppo : public Learner {
 public:
  Ppo(PpoOptions options, std::vector<std::unique_ptr<Env>> envs);

  bool finished() const override { return steps_ >= options_.steps; }
  double part_done() const override {
    return static_cast<double>(steps_) / static_cast<double>(options_.steps);
  }
  // Plays a round and learns from it.
  PpoReport round();
  Result<Figures> learn() override;
  std::uint64_t samples() const override { return steps_; }

  bool at_checkpoint() const override { return rounds_ % options_.rounds_per_checkpoint == 0; }
  void state(StateFile& file) override;

  const nn::Network& policy() const override { return policy_; }
  const nn::Network& value() const { return value_; }
  const nn::Normaliser& normaliser() const override { return collector_.normaliser(); }

 private:
  // A fixed part of every minibatch, with all that is needed to work on it alone.
  struct Shard {
    nn::Activations policy;
    nn::Activations value;
    Backward backward;
    nn::Floats states;
    nn::Floats penalties;  // of choices that are not allowed
    nn::Floats log_probabilities;
    nn::Floats probabilities;
    nn::Floats output_gradient;
    nn::Floats policy_gradient;
    nn::Floats value_gradient;
    PpoReport sums;
    double squares = 0;  // of the part of the gradient that it adds up
  };

  void update(PpoReport& report);
  void shuffle(Rng& rng);
  void learn_minibatch(std::span<const std::uint32_t> chosen, PpoReport& report);
  void normalise_advantages(std::span<const std::uint32_t> chosen);
  // Gradients of a part of a minibatch, `first` samples into it, with weight `share` each.
  void work_on(Shard& shard, std::span<const std::uint32_t> part, std::size_t first, float share,
               double entropy_weight);
  void gather(Shard& shard, std::span<const std::uint32_t> part) const;
  void policy_gradients(Shard& shard, std::span<const std::uint32_t> part,
                        std::span<const float> advantages, float share, double entropy_weight);
  // The same for decisions of one row, the usual case.
  void choice_gradients(Shard& shard, std::span<const std::uint32_t> part,
                        std::span<const float> advantages, float share, double entropy_weight);
  void value_gradients(Shard& shard, std::span<const std::uint32_t> part, float share);
  // Adds the shards' gradients up in the first, one of `parts` ranges of it.
  void add_up(std::size_t part, std::size_t parts);
  double explained_variance() const;

  PpoOptions options_;
  ThreadTeam team_;
  Collector collector_;
  nn::Network policy_;
  nn::Network value_;
  Adam policy_adam_;
  Adam value_adam_;
  std::uint64_t steps_ = 0;
  std::uint64_t rounds_ = 0;

  Experience experience_;
  std::vector<Shard> shards_;
  std::vector<std::uint32_t> order_;
  std::vector<float> chosen_advantages_;
};

}  // namespace partita::learn
