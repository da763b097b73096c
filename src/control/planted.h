// PLANTED(name): mistakes that the simulation tests must catch; never true in the product.
//
// The tests build the controller once more with PARTITA_PLANT and switch one mistake on at a time,
// which shows that the checkers would see it. A mistake is one line where what it breaks begins.
#pragma once

#include <cstdint>
#include <string_view>

namespace partita::control {

#define PARTITA_PLANTED(X)    \
  X(launch_without_intent)    \
  X(forget_attempt_number)    \
  X(requeue_before_exit)      \
  X(drop_job_on_launch_error) \
  X(reuse_slice_too_early)    \
  X(destroy_foreign)          \
  X(lose_cancel)              \
  X(restart_after_done)       \
  X(leak_failed_create)       \
  X(ignore_vanished)          \
  X(accept_key_twice)         \
  X(skip_progress_row)        \
  X(shrink_after_memory_out)  \
  X(journal_skips_quiet_turn) \
  X(take_slice_too_early)     \
  X(lose_claimant)            \
  X(stop_without_saving)      \
  X(fail_without_space)       \
  X(start_without_space)      \
  X(ignore_bars)              \
  X(ignore_quota)             \
  X(forget_drain)

#ifdef PARTITA_PLANT
enum class Planted : std::uint8_t {
  k_none,
#define PARTITA_PLANTED_NAME(name) k_##name,
  PARTITA_PLANTED(PARTITA_PLANTED_NAME)
#undef PARTITA_PLANTED_NAME
};
extern Planted planted;
#define PLANTED(name) (::partita::control::planted == ::partita::control::Planted::k_##name)
#else
#define PLANTED(name) false
#endif

}  // namespace partita::control
