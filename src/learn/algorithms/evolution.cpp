#include "learn/algorithms/evolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/check.h"
#include "base/rng.h"
#include "base/text.h"

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
  for (std::uint64_t day = 0; day < days; ++day) sum += score_(trial, steps_ * days + day, thread);
  return sum / static_cast<double>(days);
}

void Evolution::try_pairs(std::size_t thread) {
  const std::size_t size = policy_.parameters().size();
  for (std::size_t pair = thread; pair < differences_.size(); pair += options_.threads) {
    const auto noise = std::span<const float>(noise_).subspan(pair * size, size);
    const double up = score_with(noise, 1, thread);
    const double down = score_with(noise, -1, thread);
    differences_[pair] = up - down;
    sums_[pair] = up + down;
  }
}

double Evolution::step() {
  const std::size_t size = policy_.parameters().size();
  const auto pairs = static_cast<std::size_t>(options_.pairs);
  Rng rng(options_.seed, steps_);
  noise_.resize(pairs * size);
  for (float& each : noise_) each = static_cast<float>(rng.normal());
  differences_.resize(pairs);
  sums_.resize(pairs);
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < options_.threads; ++i) {
    others.emplace_back([this, i] { try_pairs(i); });
  }
  try_pairs(0);
  for (std::thread& other : others) other.join();
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
  ++steps_;
  return mean;
}

namespace {

constexpr const char* kOf = "evolution.";

std::string fingerprint(const EvolutionOptions& options, const nn::Network& policy) {
  return fmt::format("{} {} {} {} {} {} {} {}", fmt::join(policy.shape().widths, "x"),
                     options.steps, options.pairs, options.days, options.spread,
                     options.learning_rate, options.learning_rate_end, options.seed);
}

}  // namespace

void Evolution::add_to(nn::TensorFile& file) const {
  const auto add = [&](const char* name, std::span<const float> values) {
    file.tensors.push_back(
        {std::string(kOf) + name, {values.size()}, {values.begin(), values.end()}});
  };
  add("policy", policy_.parameters());
  add("first", adam_.first());
  add("second", adam_.second());
  file.metadata[std::string(kOf) + "options"] = fingerprint(options_, policy_);
  file.metadata[std::string(kOf) + "steps"] = std::to_string(steps_);
}

Status Evolution::resume(const nn::TensorFile& file) {
  const auto options = file.metadata.find(std::string(kOf) + "options");
  const auto steps = file.metadata.find(std::string(kOf) + "steps");
  const std::string wanted = fingerprint(options_, policy_);
  if (options == file.metadata.end() || steps == file.metadata.end()) {
    return Error{"the checkpoint has no evolution in it"};
  }
  if (options->second != wanted) {
    return Error{
        fmt::format("the checkpoint is of other options ({}), wanted {}", options->second, wanted)};
  }
  const auto count = parse_int(steps->second);
  const nn::Tensor* policy = file.find(std::string(kOf) + "policy");
  const nn::Tensor* first = file.find(std::string(kOf) + "first");
  const nn::Tensor* second = file.find(std::string(kOf) + "second");
  for (const nn::Tensor* each : {policy, first, second}) {
    if (each == nullptr || each->values.size() != policy_.parameters().size()) {
      return Error{"the checkpoint lacks a part of evolution or has one of the wrong size"};
    }
  }
  if (!count || *count < 0) return Error{"the checkpoint does not say how far evolution was"};
  std::ranges::copy(policy->values, policy_.parameters().begin());
  adam_.first() = first->values;
  adam_.second() = second->values;
  steps_ = adam_.steps() = static_cast<std::uint64_t>(*count);
  return {};
}

}  // namespace partita::learn
