// What the generators share: the purposes of their random streams and the checks of their options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/job_source.h"

namespace partita::workload {

// One stream each, so that an option that changes the draws of one leaves the others as they were.
// The values decide the bytes a seed gives: do not change them.
inline constexpr std::uint64_t kPurposeArrivals = 1;
inline constexpr std::uint64_t kPurposeTypes = 2;
inline constexpr std::uint64_t kPurposeDurations = 3;
inline constexpr std::uint64_t kPurposeDeadlines = 4;
inline constexpr std::uint64_t kPurposeMemory = 5;

// Limits of generated workloads: far beyond use, far from overflow.
inline constexpr double kHoursMax = 1e6;    // 114 years
inline constexpr double kRateMax = 1e6;     // jobs a minute, or a multiplier
inline constexpr double kMinutesMax = 1e7;  // of one job: 19 years
inline constexpr double kSlackMax = 1e4;    // deadline over time on the whole GPU
inline constexpr double kGibMax = 1e6;

// Generated jobs are called 1, 2, 3, ...
void set_id(JobRow& row, std::uint64_t number);

// Collects the first option that is out of range as a sentence.
class OptionChecks {
 public:
  void within(std::string_view what, double value, double low, double high);
  void range(std::string_view what, double low, double high, double least, double most);
  Status status() const;

 private:
  std::optional<Error> error_;
};

}  // namespace partita::workload
