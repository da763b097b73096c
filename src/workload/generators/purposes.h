// The purposes of the generators' random streams, one each, so that an option that changes the
// draws of one leaves the others as they were.
#pragma once

#include <cstdint>

namespace partita::workload {

// These values decide the bytes a seed gives: do not change them.
inline constexpr std::uint64_t kPurposeArrivals = 1;
inline constexpr std::uint64_t kPurposeTypes = 2;
inline constexpr std::uint64_t kPurposeDurations = 3;
inline constexpr std::uint64_t kPurposeDeadlines = 4;
inline constexpr std::uint64_t kPurposeMemory = 5;
inline constexpr std::uint64_t kPurposeBatches = 6;

}  // namespace partita::workload
