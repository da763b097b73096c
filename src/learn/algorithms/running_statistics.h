// RunningStatistics: mean and spread of what was seen so far, number by number; it becomes the
// normaliser of a model.
#pragma once

#include <span>
#include <vector>

#include "nn/model.h"

namespace partita::learn {

class RunningStatistics {
 public:
  explicit RunningStatistics(std::size_t size) : mean_(size), squares_(size) {}

  void add(std::span<const float> values);
  // As if all that `other` saw had been added.
  void merge(const RunningStatistics& other);
  void clear();
  nn::Normaliser normaliser() const;
  double deviation(std::size_t index) const;
  double count() const { return count_; }

  // Texts that restore() reads back to the last bit.
  std::string text() const;
  bool restore(std::string_view text);

 private:
  double count_ = 0;
  std::vector<double> mean_;
  std::vector<double> squares_;  // sums of squared differences from the mean (Welford)
};

}  // namespace partita::learn
