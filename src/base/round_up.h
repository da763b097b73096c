// Rounding of durations to whole microseconds, the same wherever an end of a job is reckoned.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace partita {

// Up, and to one at least, so that everything that runs ends later than it began. std::ceil for
// values between -2^63 and 2^63, without the call that it is on machines before SSE4.1.
inline Micros round_up(double micros) {
  const auto whole = static_cast<std::int64_t>(micros);
  return {std::max<std::int64_t>(1, whole + (static_cast<double>(whole) < micros ? 1 : 0))};
}

}  // namespace partita
