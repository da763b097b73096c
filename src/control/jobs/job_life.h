// JobLife: the states a job goes through, and the only ways from one to another.
//
//   queued ──> starting ──> running ──> done, failed, lost
//     ^           │            │
//     │           │            ├──> restarting ──> queued   (to a larger slice; or it ended first)
//     └───────────┴────────────┘                            (memory ran out, the device was lost)
//   any that has not ended ──> cancelling ──> cancelled     (from queued at once)
//   any that has ended ──> queued                           (only when somebody asks for it)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace partita::control {

// Values are on disk.
enum class JobState : std::uint8_t {
  kQueued = 0,
  kStarting = 1,    // the start is decided and written down; the process may not be there yet
  kRunning = 2,     // a process is there
  kRestarting = 3,  // it is being stopped to begin again on a larger slice
  kCancelling = 4,  // it is being stopped for good
  kDone = 5,        // exit status 0
  kFailed = 6,      // another exit status, a signal of its own, or it cannot be run
  kCancelled = 7,
  kLost = 8,  // the process or its device vanished, and not for the first time
};
inline constexpr std::size_t kJobStates = 9;

std::string_view name_of(JobState state);
std::optional<JobState> job_state_of(std::string_view name);

// Nothing follows by itself.
bool has_ended(JobState state);
// A process of it may exist.
bool holds_slice(JobState state);

bool may_move(JobState from, JobState to);

}  // namespace partita::control
