#include "learn/algorithms/backward.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/algorithms/adam.h"

namespace partita::learn {
namespace {

std::vector<float> random_values(std::size_t count, Rng& rng) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.uniform(-1, 1));
  return values;
}

// A loss that weighs the outputs: its gradient with respect to them is the weights.
double weighed_outputs(const nn::Network& network, std::span<const float> states, int batch,
                       std::span<const float> weights) {
  nn::Activations activations;
  activations.forward(network, states, batch, nn::best_kernels());
  double loss = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    loss += static_cast<double>(weights[i]) * static_cast<double>(activations.outputs()[i]);
  }
  return loss;
}

TEST(Backward, AgreesWithFiniteDifferences) {
  for (const auto activation : {nn::Activation::kTanh, nn::Activation::kRelu}) {
    Rng rng(11);
    nn::Network network(nn::Shape{{5, 7, 6, 3}, activation});
    initialise(network, rng, 1.0F);
    constexpr int kBatch = 4;
    const auto states = random_values(5 * kBatch, rng);
    const auto weights = random_values(3 * kBatch, rng);
    nn::Activations activations;
    activations.forward(network, states, kBatch, nn::best_kernels());
    std::vector<float> gradient(network.parameters().size());
    Backward backward;
    backward.add(network, states, activations, weights, gradient, nn::best_kernels());
    constexpr float kNudge = 2e-3F;
    int agree = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      nn::Network nudged = network;
      nudged.parameters()[i] += kNudge;
      const double up = weighed_outputs(nudged, states, kBatch, weights);
      nudged.parameters()[i] -= 2 * kNudge;
      const double down = weighed_outputs(nudged, states, kBatch, weights);
      const double numeric = (up - down) / (2 * static_cast<double>(kNudge));
      agree += std::abs(numeric - static_cast<double>(gradient[i])) < 2e-3 ? 1 : 0;
    }
    // A kink of relu between the two nudges spoils a few.
    const double share = static_cast<double>(agree) / static_cast<double>(gradient.size());
    EXPECT_GT(share, activation == nn::Activation::kTanh ? 0.999 : 0.93);
  }
}

TEST(Backward, AddsToWhatIsThere) {
  Rng rng(12);
  nn::Network network(nn::Shape{{2, 3, 1}, nn::Activation::kTanh});
  initialise(network, rng, 1.0F);
  const auto states = random_values(2, rng);
  nn::Activations activations;
  activations.forward(network, states, 1, nn::portable_kernels());
  const std::vector<float> one{1.0F};
  std::vector<float> once(network.parameters().size());
  Backward backward;
  backward.add(network, states, activations, one, once, nn::portable_kernels());
  std::vector<float> twice = once;
  backward.add(network, states, activations, one, twice, nn::portable_kernels());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_FLOAT_EQ(twice[i], 2 * once[i]);
}

TEST(Adam, FindsTheBottomOfABowl) {
  std::vector<float> at{3, -2};
  Adam adam(2);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<float> gradient{2 * (at[0] - 1), 20 * (at[1] - 4)};
    adam.step(at, gradient, 0.02);
  }
  EXPECT_NEAR(static_cast<double>(at[0]), 1, 1e-2);
  EXPECT_NEAR(static_cast<double>(at[1]), 4, 1e-2);
}

// The first step of Adam is the learning rate, whatever the gradient.
TEST(Adam, TheFirstStepIsTheLearningRate) {
  std::vector<float> at{0, 0};
  Adam adam(2);
  adam.step(at, std::vector<float>{5, -300}, 0.1);
  EXPECT_NEAR(static_cast<double>(at[0]), -0.1, 1e-5);
  EXPECT_NEAR(static_cast<double>(at[1]), 0.1, 1e-5);
}

TEST(Anneal, GoesFromOneValueToTheOtherAndNoFurther) {
  EXPECT_EQ(anneal(1, 0, 0), 1);
  EXPECT_EQ(anneal(1, 0, 0.25), 0.75);
  EXPECT_EQ(anneal(1, 0, 2), 0);
}

}  // namespace
}  // namespace partita::learn
