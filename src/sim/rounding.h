// Rounding durations to whole microseconds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace partita::sim {

// std::ceil for non-negative values below 2^63, without a call on machines before SSE4.1; and one
// at least, so that every completion ends a stay that can be written down.
inline std::int64_t round_up(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return std::max<std::int64_t>(1, whole + (static_cast<double>(whole) < value ? 1 : 0));
}

}  // namespace partita::sim
