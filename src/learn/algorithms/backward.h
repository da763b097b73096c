// Backward: gradients of a loss with respect to the parameters of a network.
#pragma once

#include <span>
#include <vector>

#include "base/rng.h"
#include "nn/network.h"

namespace partita::learn {

// Weights normal with variance 1/inputs (2/inputs for relu), those of the last layer times
// `output_gain`; biases 0.
void initialise(nn::Network& network, Rng& rng, float output_gain);

// Its memory is used again from batch to batch.
class Backward {
 public:
  // Adds to `gradient` (as the parameters of the network stand) what `output_gradient` (one column
  // a state) asks for. REQUIRES: `activations` are of the same network and states.
  void add(const nn::Network& network, std::span<const float> states,
           const nn::Activations& activations, std::span<const float> output_gradient,
           std::span<float> gradient, const nn::Kernels& kernels);

 private:
  nn::Floats above_;
  nn::Floats below_;
};

}  // namespace partita::learn
