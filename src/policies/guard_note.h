// What a guard says to the log.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/units.h"

namespace partita::policies {

// With the time into the run, which whoever reads of it in the end does not see. A live cluster has
// the time of day instead, and its log has that already.
inline std::string guard_note(Micros now, std::string_view text) {
  constexpr Micros kRunMax = Micros::seconds(1'000'000'000);  // 31 years; a clock of today has 56
  if (now >= kRunMax) return std::string(text);
  return fmt::format("at {:.0f} s: {}", now.to_seconds(), text);
}

}  // namespace partita::policies
