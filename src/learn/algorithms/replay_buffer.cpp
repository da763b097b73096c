#include "learn/algorithms/replay_buffer.h"

#include <algorithm>

#include "base/check.h"

namespace partita::learn {

Replay::Replay(const EnvSpec& spec, std::size_t capacity)
    : width_(static_cast<std::size_t>(spec.observation)),
      choices_count_(static_cast<std::size_t>(spec.table.choices)),
      capacity_(capacity),
      observations_(capacity * width_),
      nexts_(capacity * width_),
      next_allowed_(capacity * choices_count_),
      choices_(capacity),
      rewards_(capacity),
      done_(capacity) {
  CHECK(capacity > 0 && spec.table.rows == 1);
}

void Replay::add(std::span<const float> observation, std::uint16_t choice, float reward, bool done,
                 std::span<const float> next, std::span<const std::uint8_t> next_allowed) {
  CHECK(observation.size() == width_ && next.size() == width_);
  CHECK(next_allowed.size() == choices_count_);
  std::ranges::copy(observation, observations_.begin() + static_cast<std::ptrdiff_t>(at_ * width_));
  std::ranges::copy(next, nexts_.begin() + static_cast<std::ptrdiff_t>(at_ * width_));
  std::ranges::copy(next_allowed,
                    next_allowed_.begin() + static_cast<std::ptrdiff_t>(at_ * choices_count_));
  choices_[at_] = choice;
  rewards_[at_] = reward;
  done_[at_] = done ? 1 : 0;
  at_ = (at_ + 1) % capacity_;
  size_ = std::min(capacity_, size_ + 1);
}

void Replay::state(StateFile& file) {
  file.item("replay.size", size_);
  file.item("replay.at", at_);
  if (size_ > capacity_ || at_ >= capacity_) {
    size_ = at_ = 0;
    return file.refuse("replay.size");
  }
  file.item("replay.observations", std::span(observations_).first(size_ * width_));
  file.item("replay.nexts", std::span(nexts_).first(size_ * width_));
  file.item("replay.allowed", std::span(next_allowed_).first(size_ * choices_count_), 2);
  file.item("replay.choices", std::span(choices_).first(size_), choices_count_);
  file.item("replay.rewards", std::span(rewards_).first(size_));
  file.item("replay.done", std::span(done_).first(size_), 2);
}

std::span<const float> Replay::observation(std::size_t index) const {
  return std::span(observations_).subspan(index * width_, width_);
}

std::span<const float> Replay::next(std::size_t index) const {
  return std::span(nexts_).subspan(index * width_, width_);
}

std::span<const std::uint8_t> Replay::next_allowed(std::size_t index) const {
  return std::span(next_allowed_).subspan(index * choices_count_, choices_count_);
}

}  // namespace partita::learn
