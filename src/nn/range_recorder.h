// RangeRecorder: from many observations the ranges in which nearly all of them lie.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/model.h"

namespace partita::nn {

// Of more than it keeps, every second, then every fourth, and so on: nothing is drawn.
class RangeRecorder {
 public:
  static constexpr std::size_t kRowsMax = 1 << 16;
  static constexpr double kLeftOut = 0.0001;  // of all values of a number, at each end

  // REQUIRES: as many numbers each time.
  void add(std::span<const float> state);
  // Empty when nothing was added.
  Ranges ranges() const;

 private:
  void thin();

  std::size_t width_ = 0;
  std::vector<float> rows_;  // one after the other
  std::uint64_t seen_ = 0;
  std::uint64_t stride_ = 1;
};

}  // namespace partita::nn
