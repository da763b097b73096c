#include "learn/algorithms/running_statistics.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace partita::learn {
namespace {

constexpr double kSpreadMin = 1e-4;  // below, a number is taken for a constant and left alone

}  // namespace

void RunningStatistics::add(std::span<const float> values) {
  CHECK(values.size() == mean_.size());
  count_ += 1;
  const double share = 1 / count_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]);
    const double before = value - mean_[i];
    mean_[i] += before * share;
    squares_[i] += before * (value - mean_[i]);
  }
}

void RunningStatistics::merge(const RunningStatistics& other) {
  CHECK(other.mean_.size() == mean_.size());
  if (other.count_ == 0) return;
  const double both = count_ + other.count_;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double apart = other.mean_[i] - mean_[i];
    mean_[i] += apart * (other.count_ / both);
    squares_[i] += other.squares_[i] + apart * apart * (count_ * other.count_ / both);
  }
  count_ = both;
}

void RunningStatistics::clear() {
  count_ = 0;
  mean_.assign(mean_.size(), 0);
  squares_.assign(squares_.size(), 0);
}

double RunningStatistics::deviation(std::size_t index) const {
  return count_ < 2 ? 0 : std::sqrt(squares_[index] / count_);
}

nn::Normaliser RunningStatistics::normaliser() const {
  nn::Normaliser normaliser;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double spread = deviation(i);
    normaliser.mean.push_back(static_cast<float>(mean_[i]));
    normaliser.scale.push_back(spread < kSpreadMin ? 1.0F : static_cast<float>(1 / spread));
  }
  return normaliser;
}

std::string RunningStatistics::text() const {
  std::string text = fmt::format("{}", count_);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    text += fmt::format(" {} {}", mean_[i], squares_[i]);
  }
  return text;
}

bool RunningStatistics::restore(std::string_view text) {
  const auto words = split(text, ' ');
  if (words.size() != 1 + 2 * mean_.size()) return false;
  std::vector<double> numbers;
  for (const std::string_view word : words) {
    const auto number = parse_double(word);
    if (!number) return false;
    numbers.push_back(*number);
  }
  count_ = numbers[0];
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    mean_[i] = numbers[1 + 2 * i];
    squares_[i] = numbers[2 + 2 * i];
  }
  return true;
}

}  // namespace partita::learn
