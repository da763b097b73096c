// FAILPOINT: named places where a test may end the process, as a crash would.
//
// A place does nothing until it is armed, and costs one load then. The names are one list, so that
// a test can try them all and a place that is not listed does not compile.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace partita {

// One line for each step between an input and what the world sees of it.
#define PARTITA_FAILPOINTS(X) \
  X(store_begin)              \
  X(store_jobs_written)       \
  X(store_attempts_written)   \
  X(store_instances_written)  \
  X(store_intents_written)    \
  X(store_events_written)     \
  X(store_turns_written)      \
  X(store_commit)             \
  X(store_committed)          \
  X(store_opened)             \
  X(store_migrating)          \
  X(store_loaded)             \
  X(turn_inputs_taken)        \
  X(turn_stepped)             \
  X(turn_committed)           \
  X(turn_replied)             \
  X(turn_effects_begun)       \
  X(turn_effects_done)        \
  X(turn_submission_taken)    \
  X(turn_cancel_taken)        \
  X(restore_jobs_read)        \
  X(restore_devices_read)     \
  X(restore_attempts_found)   \
  X(restore_reconciled)       \
  X(device_before_create)     \
  X(device_after_create)      \
  X(device_before_destroy)    \
  X(device_after_destroy)     \
  X(device_reported)          \
  X(launch_before_spec)       \
  X(launch_spec_written)      \
  X(launch_before_spawn)      \
  X(launch_spawned)           \
  X(launch_revoking)          \
  X(launch_stop_before)       \
  X(launch_stop_sent)         \
  X(launch_exit_seen)         \
  X(launch_forgetting)        \
  X(supervisor_begun)         \
  X(supervisor_locked)        \
  X(supervisor_claimed)       \
  X(supervisor_forked)        \
  X(supervisor_pid_written)   \
  X(supervisor_job_ended)     \
  X(supervisor_exit_written)

enum class Failpoint : std::uint8_t {
#define PARTITA_FAILPOINT_NAME(name) k_##name,
  PARTITA_FAILPOINTS(PARTITA_FAILPOINT_NAME)
#undef PARTITA_FAILPOINT_NAME
};

inline constexpr std::string_view kFailpointNames[] = {
#define PARTITA_FAILPOINT_TEXT(name) #name,
    PARTITA_FAILPOINTS(PARTITA_FAILPOINT_TEXT)
#undef PARTITA_FAILPOINT_TEXT
};

// "name" or "name:3": the process is killed when it comes to that place for the third time. An
// unknown name is answered with the known ones.
Status arm_failpoint(std::string_view text);

namespace failpoint_detail {
inline constexpr int kNone = -1;
extern std::atomic<int> armed;
void reached(Failpoint place);
}  // namespace failpoint_detail

}  // namespace partita

#define FAILPOINT(name)                                                       \
  do {                                                                        \
    if (::partita::failpoint_detail::armed.load(std::memory_order_relaxed) == \
        static_cast<int>(::partita::Failpoint::k_##name)) [[unlikely]] {      \
      ::partita::failpoint_detail::reached(::partita::Failpoint::k_##name);   \
    }                                                                         \
  } while (false)
