#include "learn/adam.h"

#include <cmath>

#include "base/check.h"

namespace partita::learn {

void Adam::step(std::span<float> parameters, std::span<const float> gradient,
                double learning_rate) {
  CHECK(parameters.size() == first_.size() && gradient.size() == first_.size());
  ++steps_;
  const auto steps = static_cast<double>(steps_);
  const double unbias1 = 1 - std::pow(kBeta1, steps);
  const double unbias2 = 1 - std::pow(kBeta2, steps);
  const auto rate = static_cast<float>(learning_rate / unbias1);
  const auto root = static_cast<float>(1 / std::sqrt(unbias2));
  constexpr auto b1 = static_cast<float>(kBeta1);
  constexpr auto b2 = static_cast<float>(kBeta2);
  constexpr auto epsilon = static_cast<float>(kEpsilon);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const float g = gradient[i];
    first_[i] = b1 * first_[i] + (1 - b1) * g;
    second_[i] = b2 * second_[i] + (1 - b2) * g * g;
    parameters[i] -= rate * first_[i] / (std::sqrt(second_[i]) * root + epsilon);
  }
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
