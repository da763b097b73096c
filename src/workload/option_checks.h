// OptionChecks: the sentence for an option of a generator or reader that is out of range.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace partita::workload {

// Limits of workloads we make or rescale: far beyond use, far from overflow.
inline constexpr double kHoursMax = 1e6;    // 114 years
inline constexpr double kRateMax = 1e6;     // jobs a minute, or a multiplier
inline constexpr double kMinutesMax = 1e7;  // of one job: 19 years
inline constexpr double kSlackMax = 1e4;    // deadline over time on the whole GPU
inline constexpr double kGibMax = 1e6;

// Remembers the first option that is out of range.
class OptionChecks {
 public:
  // "hours: found -1, wanted 0 to 1000000". NaN is out of every range.
  void within(std::string_view what, double value, double low, double high);
  // For options that are a range themselves: both ends within [least, most], in order.
  void range(std::string_view what, double low, double high, double least, double most);
  Status status() const;

 private:
  std::optional<Error> error_;
};

}  // namespace partita::workload
