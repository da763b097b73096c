// Limits: everything the controller bounds, by name; what is above is refused, not absorbed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace partita::control {

struct Limits {
  std::size_t queue_jobs_max = 100'000;  // that have not ended
  std::size_t queue_jobs_per_user_max = 100'000;
  std::size_t finished_jobs_kept_max = 100'000;  // the oldest are forgotten
  std::size_t array_jobs_max = 10'000;           // of one submission
  std::size_t argv_bytes_max = 128 * 1024;
  std::size_t environment_entries_max = 256;
  std::size_t name_bytes_max = 64;
  std::size_t key_bytes_max = 64;
  Micros time_limit_max = {};      // of an attempt, and of those that give none; 0: none
  std::int64_t attempts_max = 12;  // of one job; those before it was queued again on request aside
  std::int64_t losses_max = 1;     // of its process or device before it is given up
};

// How often a slice that could not be made or unmade is tried again, and when it is given up.
inline constexpr Micros kDeviceRetryFirst = Micros::seconds(1);
inline constexpr Micros kDeviceRetryMost = Micros::seconds(30);
inline constexpr int kDestroyTriesMax = 5;
// One that was given up is tried once more every so often: who held it may have gone.
inline constexpr Micros kQuarantineRetry = Micros::seconds(600);

// Energy and peaks of running attempts are written down at least this often.
inline constexpr Micros kBookInterval = Micros::seconds(2);

}  // namespace partita::control
