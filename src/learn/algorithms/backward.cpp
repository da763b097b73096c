#include "learn/algorithms/backward.h"

#include <cmath>

#include "base/check.h"

namespace partita::learn {

void initialise(nn::Network& network, Rng& rng, float output_gain) {
  const nn::Shape& shape = network.shape();
  const double gain = shape.activation == nn::Activation::kRelu ? 2 : 1;
  for (int i = 0; i < shape.layers(); ++i) {
    const bool last = i + 1 == shape.layers();
    const double spread = (last ? static_cast<double>(output_gain) : 1) *
                          std::sqrt((last ? 1 : gain) / shape.layer(i).inputs);
    for (float& weight : network.weights(i)) weight = static_cast<float>(spread * rng.normal());
    for (float& bias : network.biases(i)) bias = 0;
  }
}

void Backward::add(const nn::Network& network, std::span<const float> states,
                   const nn::Activations& activations, std::span<const float> output_gradient,
                   std::span<float> gradient, const nn::Kernels& kernels) {
  const nn::Shape& shape = network.shape();
  const int batch = activations.batch();
  CHECK(gradient.size() == network.parameters().size());
  CHECK(output_gradient.size() == activations.outputs().size());
  above_.assign(output_gradient.begin(), output_gradient.end());
  const float* base = network.parameters().data();
  for (int i = shape.layers() - 1; i >= 0; --i) {
    const nn::LayerSize size = shape.layer(i, batch);
    const float* in = i == 0 ? states.data() : activations.layer(i - 1).data();
    float* dw = gradient.data() + (network.weights(i).data() - base);
    float* db = gradient.data() + (network.biases(i).data() - base);
    kernels.back_weights(size, above_.data(), in, dw, db);
    if (i == 0) return;
    below_.resize(activations.layer(i - 1).size());
    kernels.back_input(size, network.weights(i).data(), above_.data(), below_.data());
    kernels.activate_back(shape.activation, below_.size(), in, below_.data());
    std::swap(above_, below_);
  }
}

}  // namespace partita::learn
