#include "nn/network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "nn/kernels/kinds.h"

namespace partita::nn {
namespace {

void fill(std::span<float> values, Rng& rng) {
  for (float& value : values) value = static_cast<float>(rng.uniform(-1, 1));
}

Network random_network(Shape shape, Rng& rng) {
  Network network(std::move(shape));
  fill(network.parameters(), rng);
  return network;
}

// The definition, written down once more in double.
std::vector<double> by_definition(const Network& network, std::span<const float> state) {
  std::vector<double> in(state.begin(), state.end());
  const Shape& shape = network.shape();
  for (int layer = 0; layer < shape.layers(); ++layer) {
    const auto weights = network.weights(layer);
    const auto biases = network.biases(layer);
    std::vector<double> out;
    for (std::size_t row = 0; row < biases.size(); ++row) {
      double sum = static_cast<double>(biases[row]);
      for (std::size_t i = 0; i < in.size(); ++i) {
        sum += static_cast<double>(weights[row * in.size() + i]) * in[i];
      }
      const bool hidden = layer + 1 < shape.layers();
      const bool relu = shape.activation == Activation::kRelu;
      out.push_back(!hidden ? sum : relu ? std::max(0.0, sum) : std::tanh(sum));
    }
    in = out;
  }
  return in;
}

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all{&portable_kernels()};
  if (best_kernels().name != "portable") all.push_back(&best_kernels());
  if (best_kernels().name == "avx512") all.push_back(&avx2_kernels());
  return all;
}

TEST(Network, ForwardIsTheDefinitionOnEveryKindOfProcessor) {
  Rng rng(3);
  for (int round = 0; round < 40; ++round) {
    Shape shape{{1 + static_cast<int>(rng.below(60)), 1 + static_cast<int>(rng.below(70)),
                 1 + static_cast<int>(rng.below(40)), 1 + static_cast<int>(rng.below(20))},
                round % 2 == 0 ? Activation::kRelu : Activation::kTanh};
    const Network network = random_network(shape, rng);
    const int batch = 1 + static_cast<int>(rng.below(9));
    std::vector<float> states(static_cast<std::size_t>(shape.inputs() * batch));
    fill(states, rng);
    for (const Kernels* kernels : all_kernels()) {
      Activations activations;
      activations.forward(network, states, batch, *kernels);
      for (int b = 0; b < batch; ++b) {
        const auto inputs = static_cast<std::size_t>(shape.inputs());
        const auto outputs = static_cast<std::size_t>(shape.outputs());
        const auto at = static_cast<std::size_t>(b);
        const auto wanted = by_definition(network, std::span(states).subspan(at * inputs, inputs));
        for (std::size_t i = 0; i < outputs; ++i) {
          EXPECT_NEAR(static_cast<double>(activations.outputs()[at * outputs + i]), wanted[i],
                      1e-4 * (1 + std::abs(wanted[i])))
              << kernels->name;
        }
      }
    }
  }
}

TEST(Network, TheSameStateGivesTheSameBits) {
  Rng rng(4);
  const Network network = random_network({{53, 64, 64, 12}, Activation::kTanh}, rng);
  std::vector<float> state(53);
  fill(state, rng);
  Evaluator one;
  Evaluator other;
  const std::vector<float> first(one(network, state).begin(), one(network, state).end());
  const std::vector<float> second(other(network, state).begin(), other(network, state).end());
  EXPECT_EQ(first, second);
}

TEST(Network, ParametersAreAllWeightsAndBiases) {
  Network network(Shape{{3, 5, 2}, Activation::kRelu});
  EXPECT_EQ(network.parameters().size(), 3U * 5 + 5 + 5 * 2 + 2);
  EXPECT_EQ(network.parameters().size(), network.shape().parameters());
  float next = 0;
  for (float& value : network.parameters()) value = next++;
  EXPECT_EQ(network.weights(0).front(), 0);
  EXPECT_EQ(network.biases(0).front(), 15);
  EXPECT_EQ(network.weights(1).front(), 20);
  EXPECT_EQ(network.biases(1).back(), 31);
}

}  // namespace
}  // namespace partita::nn
