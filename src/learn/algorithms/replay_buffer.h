// Replay: the last transitions an agent saw, and random draws from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "learn/algorithms/state_file.h"
#include "learn/environments/env.h"

namespace partita::learn {

class Replay {
 public:
  // All memory is taken here.
  Replay(const EnvSpec& spec, std::size_t capacity);

  // A decision of an environment with one row and one thing: `choice`. The oldest goes when full.
  void add(std::span<const float> observation, std::uint16_t choice, float reward, bool done,
           std::span<const float> next, std::span<const std::uint8_t> next_allowed);
  std::size_t size() const { return size_; }
  // All that is kept, and where the next goes.
  void state(StateFile& file);

  std::span<const float> observation(std::size_t index) const;
  std::span<const float> next(std::size_t index) const;
  std::span<const std::uint8_t> next_allowed(std::size_t index) const;
  std::uint16_t choice(std::size_t index) const { return choices_[index]; }
  float reward(std::size_t index) const { return rewards_[index]; }
  bool done(std::size_t index) const { return done_[index] != 0; }

 private:
  std::size_t width_;
  std::size_t choices_count_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::size_t at_ = 0;
  std::vector<float> observations_;
  std::vector<float> nexts_;
  std::vector<std::uint8_t> next_allowed_;
  std::vector<std::uint16_t> choices_;
  std::vector<float> rewards_;
  std::vector<std::uint8_t> done_;
};

}  // namespace partita::learn
