#include "nn/network.h"

#include "base/check.h"

namespace partita::nn {

std::size_t Shape::parameters() const {
  std::size_t count = 0;
  for (int i = 0; i < layers(); ++i) {
    const LayerSize size = layer(i);
    count += (static_cast<std::size_t>(size.inputs) + 1) * static_cast<std::size_t>(size.outputs);
  }
  return count;
}

Network::Network(Shape shape) : shape_(std::move(shape)) {
  CHECK(shape_.widths.size() >= 2);
  std::size_t begin = 0;
  for (int i = 0; i < shape_.layers(); ++i) {
    const LayerSize size = shape_.layer(i);
    CHECK(size.inputs > 0 && size.outputs > 0);
    begin_.push_back(begin);
    begin += weight_count(i) + static_cast<std::size_t>(size.outputs);
  }
  parameters_.assign(begin, 0.0F);
}

std::size_t Network::weight_count(int layer) const {
  const LayerSize size = shape_.layer(layer);
  return static_cast<std::size_t>(size.inputs) * static_cast<std::size_t>(size.outputs);
}

std::span<const float> Network::weights(int layer) const {
  return parameters().subspan(begin_[static_cast<std::size_t>(layer)], weight_count(layer));
}

std::span<float> Network::weights(int layer) {
  return parameters().subspan(begin_[static_cast<std::size_t>(layer)], weight_count(layer));
}

std::span<const float> Network::biases(int layer) const {
  const std::size_t begin = begin_[static_cast<std::size_t>(layer)] + weight_count(layer);
  return parameters().subspan(begin, static_cast<std::size_t>(shape_.layer(layer).outputs));
}

std::span<float> Network::biases(int layer) {
  const std::size_t begin = begin_[static_cast<std::size_t>(layer)] + weight_count(layer);
  return parameters().subspan(begin, static_cast<std::size_t>(shape_.layer(layer).outputs));
}

void Activations::forward(const Network& network, std::span<const float> states, int batch,
                          const Kernels& kernels) {
  const Shape& shape = network.shape();
  CHECK(states.size() ==
        static_cast<std::size_t>(shape.inputs()) * static_cast<std::size_t>(batch));
  batch_ = batch;
  layers_.resize(static_cast<std::size_t>(shape.layers()));
  const float* in = states.data();
  for (int i = 0; i < shape.layers(); ++i) {
    const LayerSize size = shape.layer(i, batch);
    Floats& out = layers_[static_cast<std::size_t>(i)];
    out.resize(static_cast<std::size_t>(size.outputs) * static_cast<std::size_t>(batch));
    kernels.affine(size, network.weights(i).data(), network.biases(i).data(), in, out.data());
    if (i + 1 < shape.layers()) kernels.activate(shape.activation, out.size(), out.data());
    in = out.data();
  }
}

}  // namespace partita::nn
