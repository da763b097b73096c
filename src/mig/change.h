// The smallest change from one layout to another: what goes, what stays, what comes, in what order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "mig/layout.h"

namespace partita::mig {

struct ChangeStep {
  enum class Kind : std::uint8_t { kDestroy, kCreate };
  Kind kind = Kind::kDestroy;
  Placement placement;
  Micros duration;

  bool operator==(const ChangeStep&) const = default;
};

struct LayoutChange {
  std::vector<Placement> kept;
  // In an order that is legal at every step, each creation as early as the destructions it needs
  // allow.
  std::vector<ChangeStep> steps;

  Micros total_duration() const;
};

// An instance of both layouts (same profile, same start) stays.
// REQUIRES: both layouts are legal.
LayoutChange smallest_change(const GpuModel& model, const Layout& from, const Layout& to);

// Of all legal arrangements of `mix` (profiles without starts), the one nearest to `from`: fewest
// busy instances lost (bits of `busy_starts` are first memory slices of busy instances), then
// fewest steps, then shortest, then the lexicographically smallest. Nothing when the mix fits no
// layout.
std::optional<Layout> nearest_arrangement(const GpuModel& model, const Layout& from,
                                          std::span<const ProfileIndex> mix,
                                          std::uint8_t busy_starts);

}  // namespace partita::mig
