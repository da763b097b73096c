// Network: a dense network whose parameters stand in one row, and its forward pass.
#pragma once

#include <span>
#include <vector>

#include "nn/floats.h"
#include "nn/kernels/kernels.h"

namespace partita::nn {

struct Shape {
  std::vector<int> widths;                    // inputs, hidden layers, outputs: at least two
  Activation activation = Activation::kTanh;  // of the hidden layers; the outputs have none

  int inputs() const { return widths.front(); }
  int outputs() const { return widths.back(); }
  int layers() const { return static_cast<int>(widths.size()) - 1; }
  LayerSize layer(int index, int batch = 1) const {
    const auto at = static_cast<std::size_t>(index);
    return {widths[at], widths[at + 1], batch};
  }
  std::size_t parameters() const;

  bool operator==(const Shape&) const = default;
};

// Layer by layer: weights row by row, then biases. One row, so that an optimiser, a file and a test
// see nothing but numbers.
class Network {
 public:
  Network() = default;
  // All parameters are 0.
  explicit Network(Shape shape);

  const Shape& shape() const { return shape_; }
  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }

  std::span<const float> weights(int layer) const;
  std::span<const float> biases(int layer) const;
  std::span<float> weights(int layer);
  std::span<float> biases(int layer);

  bool operator==(const Network&) const = default;

 private:
  std::size_t weight_count(int layer) const;

  Shape shape_;
  std::vector<std::size_t> begin_;  // by layer
  Floats parameters_;
};

// What every layer gave for a batch of states; its memory is used again.
class Activations {
 public:
  // Outputs of the network, one column a state. REQUIRES: forward() ran.
  std::span<const float> outputs() const { return layers_.back(); }
  // What the layer gave, after the activation.
  std::span<const float> layer(int index) const { return layers_[static_cast<std::size_t>(index)]; }
  int batch() const { return batch_; }

  // REQUIRES: states.size() is the inputs of the network times `batch`. Allocates only when the
  // batch is larger than any before. The same bits for states that begin alike (floats.h).
  void forward(const Network& network, std::span<const float> states, int batch,
               const Kernels& kernels);

 private:
  std::vector<Floats> layers_;
  int batch_ = 0;
};

// The forward pass for one state, with the same bits on every machine.
class Evaluator {
 public:
  // Valid until the next call. Allocates the first time only.
  std::span<const float> operator()(const Network& network, std::span<const float> state) {
    state_.assign(state.begin(), state.end());
    activations_.forward(network, state_, 1, portable_kernels());
    return activations_.outputs();
  }

 private:
  Floats state_;
  Activations activations_;
};

}  // namespace partita::nn
