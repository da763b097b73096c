// Small problems whose best policy is known, for the tests of learning.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "learn/algorithms/learner.h"
#include "learn/environments/env.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita::learn {

// A walk on places 0 .. n-1 from the middle: left (0) or right (1), and staying (2), which is
// forbidden everywhere. Each step costs 0.01; the left end gives a tempting 0.3, the right end 1.
// With the discount 0.95 going right is best everywhere.
class Walk : public Env {
 public:
  static constexpr int kPlaces = 9;

  EnvSpec spec() const override { return {kPlaces, {1, 3}}; }
  void begin(std::uint64_t) override { place_ = kPlaces / 2; }
  void observe(std::span<float> observation, std::span<std::uint8_t> allowed,
               std::span<std::uint16_t> draws) override {
    std::ranges::fill(observation, 0.0F);
    observation[static_cast<std::size_t>(place_)] = 1;
    allowed[0] = allowed[1] = 1;
    allowed[2] = 0;
    draws[0] = 1;
  }
  Step step(std::span<const std::uint16_t> table) override {
    forbidden_ += table[2];
    place_ += table[1] > 0 ? 1 : -1;
    if (place_ == 0) return {0.3F, true};
    if (place_ == kPlaces - 1) return {1.0F, true};
    return {-0.01F, false};
  }
  int forbidden() const { return forbidden_; }

 private:
  int place_ = kPlaces / 2;
  int forbidden_ = 0;
};

// A mean-field problem: 10 things of two kinds; the wanted share of kind 1 is shown and changes.
// A decision moves things between kinds; the cost is the distance from the wanted share.
class Balance : public Env {
 public:
  EnvSpec spec() const override { return {2, {2, 2}}; }
  void begin(std::uint64_t episode) override {
    rng_ = Rng(episode, 77);
    count_ = 5;
    left_ = 20;
    wanted_ = rng_.below(2) == 0 ? 2 : 8;
  }
  void observe(std::span<float> observation, std::span<std::uint8_t> allowed,
               std::span<std::uint16_t> draws) override {
    observation[0] = static_cast<float>(count_) / 10;
    observation[1] = static_cast<float>(wanted_) / 10;
    std::ranges::fill(allowed, std::uint8_t{1});
    draws[0] = static_cast<std::uint16_t>(10 - count_);
    draws[1] = static_cast<std::uint16_t>(count_);
  }
  Step step(std::span<const std::uint16_t> table) override {
    count_ = table[1] + table[3];
    const float cost = static_cast<float>(std::abs(count_ - wanted_)) / 10;
    return {-cost, --left_ == 0};
  }

 private:
  Rng rng_{0};
  int count_ = 5;
  int wanted_ = 5;
  int left_ = 0;
};

// The state of a learner, by way of a file.
inline nn::TensorFile saved_state(Learner& learner) {
  StateFile state;
  learner.state(state);
  auto file = nn::parse_tensor_file(nn::format_tensor_file(state.file()));
  CHECK(file.ok());
  return *std::move(file);
}

inline Status resume(Learner& learner, const nn::TensorFile& file) {
  StateFile state(file);
  learner.state(state);
  return state.status();
}

template <typename E>
std::vector<std::unique_ptr<Env>> copies_of(int count) {
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < count; ++i) envs.push_back(std::make_unique<E>());
  return envs;
}

// A day of the papers, cut short.
inline workload::Trace short_day(std::uint64_t seed, double hours, double rate) {
  workload::PapersOptions options;
  options.hours = hours;
  options.rate = rate;
  options.seed = seed;
  const auto source = workload::make_papers(options);
  return *workload::read_all(**source);
}

}  // namespace partita::learn
