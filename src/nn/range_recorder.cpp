#include "nn/range_recorder.h"

#include <algorithm>

#include "base/check.h"

namespace partita::nn {

void RangeRecorder::add(std::span<const float> state) {
  if (seen_++ % stride_ != 0) return;
  if (rows_.empty()) width_ = state.size();
  CHECK(width_ == state.size() && width_ > 0);
  rows_.insert(rows_.end(), state.begin(), state.end());
  if (rows_.size() == kRowsMax * width_) thin();
}

void RangeRecorder::thin() {
  const std::size_t rows = rows_.size() / width_;
  for (std::size_t row = 0; 2 * row < rows; ++row) {
    const auto from = rows_.begin() + static_cast<std::ptrdiff_t>(2 * row * width_);
    std::copy_n(from, width_, rows_.begin() + static_cast<std::ptrdiff_t>(row * width_));
  }
  rows_.resize((rows + 1) / 2 * width_);
  stride_ *= 2;
}

Ranges RangeRecorder::ranges() const {
  Ranges ranges;
  if (rows_.empty()) return ranges;
  const std::size_t rows = rows_.size() / width_;
  const auto left_out = static_cast<std::size_t>(kLeftOut * static_cast<double>(rows));
  std::vector<float> values(rows);
  for (std::size_t i = 0; i < width_; ++i) {
    for (std::size_t row = 0; row < rows; ++row) values[row] = rows_[row * width_ + i];
    std::ranges::sort(values);
    ranges.low.push_back(values[left_out]);
    ranges.high.push_back(values[rows - 1 - left_out]);
  }
  return ranges;
}

}  // namespace partita::nn
