#include "control/jobs/job_life.h"

namespace partita::control {
namespace {

constexpr std::array<std::string_view, kJobStates> kNames{"queued",     "starting",   "running",
                                                          "restarting", "cancelling", "done",
                                                          "failed",     "cancelled",  "lost"};

constexpr unsigned bit(JobState state) {
  return 1U << static_cast<unsigned>(state);
}

// By state, the states that may follow.
constexpr std::array<unsigned, kJobStates> kFollowers{
    bit(JobState::kStarting) | bit(JobState::kCancelled) | bit(JobState::kFailed),
    bit(JobState::kRunning) | bit(JobState::kQueued) | bit(JobState::kFailed) |
        bit(JobState::kDone) | bit(JobState::kLost) | bit(JobState::kRestarting) |
        bit(JobState::kCancelling),
    bit(JobState::kDone) | bit(JobState::kFailed) | bit(JobState::kLost) | bit(JobState::kQueued) |
        bit(JobState::kRestarting) | bit(JobState::kCancelling),
    bit(JobState::kQueued) | bit(JobState::kDone) | bit(JobState::kFailed) | bit(JobState::kLost) |
        bit(JobState::kCancelling),
    bit(JobState::kCancelled),
    bit(JobState::kQueued),
    bit(JobState::kQueued),
    bit(JobState::kQueued),
    bit(JobState::kQueued),
};

}  // namespace

std::string_view name_of(JobState state) {
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<JobState> job_state_of(std::string_view name) {
  for (std::size_t i = 0; i < kJobStates; ++i) {
    if (kNames[i] == name) return static_cast<JobState>(i);
  }
  return {};
}

bool has_ended(JobState state) {
  return state >= JobState::kDone;
}

bool holds_slice(JobState state) {
  return !has_ended(state) && state != JobState::kQueued;
}

bool may_move(JobState from, JobState to) {
  return (kFollowers[static_cast<std::size_t>(from)] & bit(to)) != 0;
}

}  // namespace partita::control
