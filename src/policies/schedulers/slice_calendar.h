// SliceCalendar: when the slices of each profile are free, as far as a projection of waiting jobs
// needs to know it.
//
// A projection puts jobs one after the other on the slice where they are done first, so of many
// slices of a profile those that are free latest play no part: only the first `limit` are kept,
// sorted, in one block. That is enough for as many jobs, less one for each slice that replace()
// makes free later. Copying it for a trial copies what is used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mig/gpu_model.h"

namespace partita::policies {

class SliceCalendar {
 public:
  static constexpr std::size_t kProfilesMax = 16;
  static constexpr std::size_t kLimitMax = 42;

  // Nothing is free from now on, and at most `limit` slices of a profile are kept.
  void clear(std::size_t limit) {
    limit_ = std::min(limit, kLimitMax);
    profiles_ = 0;
    sizes_ = {};
  }

  void add(mig::ProfileIndex profile, std::int64_t free_after) {
    profiles_ = static_cast<std::uint16_t>(profiles_ | (1U << profile));
    if (sizes_[profile] < limit_) {
      ++sizes_[profile];
    } else if (free_after >= free_[profile][limit_ - 1]) {
      return;
    }
    sink(profile, sizes_[profile] - 1U, free_after);
  }

  // A slice is free at another time than it was added with.
  void replace(mig::ProfileIndex profile, std::int64_t known, std::int64_t free_after) {
    Row& row = free_[profile];
    const auto end = row.begin() + sizes_[profile];
    const auto at = std::find(row.begin(), end, known);
    // One that was too late to be kept, and may now be early enough.
    if (at == end) {
      ++sizes_[profile];
    } else {
      std::copy(at + 1, end, at);
    }
    sink(profile, sizes_[profile] - 1U, free_after);
  }

  // The first slice of the profile is taken until then, later than it was free.
  void take_first(mig::ProfileIndex profile, std::int64_t until) {
    Row& row = free_[profile];
    std::size_t at = 0;
    for (; at + 1 < sizes_[profile] && row[at + 1] < until; ++at) row[at] = row[at + 1];
    row[at] = until;
  }

  std::int64_t first(mig::ProfileIndex profile) const { return free_[profile].front(); }
  // Profiles with a slice, bit i for profile i.
  std::uint16_t profiles() const { return profiles_; }

  void copy_from(const SliceCalendar& other) {
    limit_ = other.limit_;
    profiles_ = other.profiles_;
    sizes_ = other.sizes_;
    for (unsigned left = profiles_; left != 0; left &= left - 1) {
      const auto profile = static_cast<std::size_t>(std::countr_zero(left));
      std::copy_n(other.free_[profile].begin(), sizes_[profile], free_[profile].begin());
    }
  }

 private:
  // A choice that is tried replaces at most two, and both may have been too late to be kept.
  using Row = std::array<std::int64_t, kLimitMax + 2>;

  // Puts the time before those that are later; `at` is the first place that is not in use.
  void sink(mig::ProfileIndex profile, std::size_t at, std::int64_t free_after) {
    Row& row = free_[profile];
    for (; at > 0 && row[at - 1] > free_after; --at) row[at] = row[at - 1];
    row[at] = free_after;
  }

  std::size_t limit_ = kLimitMax;
  std::uint16_t profiles_ = 0;
  std::array<std::uint8_t, kProfilesMax> sizes_{};
  std::array<Row, kProfilesMax> free_;
};

}  // namespace partita::policies
