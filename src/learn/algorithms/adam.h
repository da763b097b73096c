// Adam: the optimiser of Kingma and Ba, and the clipping of gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/kernels/kernels.h"

namespace partita::learn {

class Adam {
 public:
  explicit Adam(std::size_t parameters) : first_(parameters), second_(parameters) {}

  void step(std::span<float> parameters, std::span<const float> gradient, double learning_rate);

  // The same in pieces: begin() once, then every part of the parameters once, in any order.
  nn::AdamStep begin(double learning_rate, double scale = 1);
  void step_part(const nn::AdamStep& step, std::span<const float> gradient, std::size_t first,
                 std::size_t count, std::span<float> parameters, const nn::Kernels& kernels);

  // The state of the optimiser, for checkpoints.
  std::vector<float>& first() { return first_; }
  std::vector<float>& second() { return second_; }
  std::uint64_t& steps() { return steps_; }
  std::uint64_t steps() const { return steps_; }

 private:
  static constexpr double kBeta1 = 0.9;
  static constexpr double kBeta2 = 0.999;
  static constexpr double kEpsilon = 1e-5;

  std::vector<float> first_;   // running mean of the gradient
  std::vector<float> second_;  // and of its square
  std::uint64_t steps_ = 0;
};

double norm(std::span<const float> gradient);
void scale(std::span<float> gradient, double factor);

// From `begin` to `end` as `part` goes from 0 to 1.
constexpr double anneal(double begin, double end, double part) {
  return begin + (end - begin) * (part < 0 ? 0 : part > 1 ? 1 : part);
}

}  // namespace partita::learn
