#include "learn/algorithms/adam.h"

#include <cmath>

#include "base/check.h"

namespace partita::learn {

nn::AdamStep Adam::begin(double learning_rate, double scale) {
  ++steps_;
  const auto steps = static_cast<double>(steps_);
  const double unbias1 = 1 - std::pow(kBeta1, steps);
  const double unbias2 = 1 - std::pow(kBeta2, steps);
  return {.scale = static_cast<float>(scale),
          .rate = static_cast<float>(learning_rate / unbias1),
          .root = static_cast<float>(1 / std::sqrt(unbias2)),
          .beta1 = static_cast<float>(kBeta1),
          .beta2 = static_cast<float>(kBeta2),
          .epsilon = static_cast<float>(kEpsilon)};
}

void Adam::step_part(const nn::AdamStep& step, std::span<const float> gradient, std::size_t first,
                     std::size_t count, std::span<float> parameters, const nn::Kernels& kernels) {
  CHECK(first + count <= first_.size() && parameters.size() == first_.size());
  kernels.adam(count, step, gradient.data() + first, first_.data() + first, second_.data() + first,
               parameters.data() + first);
}

void Adam::step(std::span<float> parameters, std::span<const float> gradient,
                double learning_rate) {
  CHECK(gradient.size() == first_.size());
  step_part(begin(learning_rate), gradient, 0, first_.size(), parameters, nn::portable_kernels());
}

double norm(std::span<const float> gradient) {
  double squares = 0;
  for (const float g : gradient) squares += static_cast<double>(g) * static_cast<double>(g);
  return std::sqrt(squares);
}

void scale(std::span<float> gradient, double factor) {
  for (float& g : gradient) g = static_cast<float>(static_cast<double>(g) * factor);
}

}  // namespace partita::learn
