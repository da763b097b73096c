#include "learn/algorithms/evolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/parallel.h"
#include "base/rng.h"

namespace partita::learn {

Evolution::Evolution(EvolutionOptions options, nn::Network start, DayScore score)
    : options_(options),
      policy_(std::move(start)),
      trials_(options.threads, policy_),
      score_(std::move(score)),
      adam_(policy_.parameters().size()) {
  CHECK(options_.pairs > 0 && options_.days > 0 && options_.spread > 0);
  CHECK(options_.threads > 0);
}

double Evolution::score_with(std::span<const float> noise, double sign, std::size_t thread) {
  nn::Network& trial = trials_[thread];
  const auto spread = static_cast<float>(sign * options_.spread);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    trial.parameters()[i] = policy_.parameters()[i] + spread * noise[i];
  }
  double sum = 0;
  const auto days = static_cast<std::uint64_t>(options_.days);
  for (std::uint64_t day = 0; day < days; ++day) sum += score_(trial, steps() * days + day, thread);
  return sum / static_cast<double>(days);
}

double Evolution::step() {
  const std::size_t size = policy_.parameters().size();
  const auto pairs = static_cast<std::size_t>(options_.pairs);
  Rng rng(options_.seed, steps());
  noise_.resize(pairs * size);
  for (float& each : noise_) each = static_cast<float>(rng.normal());
  differences_.resize(pairs);
  sums_.resize(pairs);
  for_each_index(pairs, options_.threads, [&](std::size_t pair, std::size_t thread) {
    const auto noise = std::span<const float>(noise_).subspan(pair * size, size);
    const double up = score_with(noise, 1, thread);
    const double down = score_with(noise, -1, thread);
    differences_[pair] = up - down;
    sums_[pair] = up + down;
  });
  double mean = 0;
  double squares = 0;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    squares += differences_[pair] * differences_[pair];
    mean += sums_[pair] / (2 * static_cast<double>(pairs));
  }
  // In units of their own spread, so that the step does not depend on the scale of the score.
  const double unit = std::sqrt(squares / static_cast<double>(pairs)) + 1e-12;
  gradient_.assign(size, 0.0F);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const auto weight = static_cast<float>(differences_[pair] / unit / static_cast<double>(pairs));
    const float* noise = noise_.data() + pair * size;
    for (std::size_t i = 0; i < size; ++i) gradient_[i] += weight * noise[i];
  }
  adam_.step(policy_.parameters(), gradient_,
             anneal(options_.learning_rate, options_.learning_rate_end, part_done()));
  return mean;
}

void Evolution::state(StateFile& file) {
  const EvolutionOptions& o = options_;
  file.must_agree(
      "evolution.options",
      fmt::format("{} {} {} {} {} {} {} {}", fmt::join(policy_.shape().widths, "x"), o.steps,
                  o.pairs, o.days, o.spread, o.learning_rate, o.learning_rate_end, o.seed));
  file.item("evolution.policy", policy_.parameters());
  file.item("evolution", adam_);
}

}  // namespace partita::learn
