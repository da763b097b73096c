// QueueRules: what holds for the queue under any policy: how long a job may be passed over, and
// how users share the fleet.
//
// docs/concepts/fairness.md has the rules and what they promise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decide/fair_share.h"

namespace partita::decide {

// Who goes first, before the policy's own order is asked.
enum class FairOrder : std::uint8_t {
  kOff,           // the policy's own order alone
  kPriority,      // higher priorities first
  kSliceSeconds,  // and then the users who have used the least, in slice-seconds
  kJoules,        // the same in joules
};

struct QueueRules {
  // A job that has waited for so long gets a reservation; nothing: jobs may wait for ever.
  std::optional<Micros> reserve_after;
  FairOrder fair_share = FairOrder::kOff;
  Micros half_life = FairShare::kHalfLifeDefault;
  // Shares of users by name; those who are not named have 1.
  std::vector<std::pair<std::string, double>> weights = {};

  bool fair() const { return fair_share != FairOrder::kOff; }
  bool any() const { return reserve_after.has_value() || fair(); }
};

// What `serve` begins with.
inline constexpr Micros kReserveAfterDefault = Micros::seconds(600);

}  // namespace partita::decide
