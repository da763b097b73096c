// What the second simulator keeps of each GPU and each job.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/units.h"
#include "mig/change.h"
#include "oracle/naive_simulator.h"

namespace partita::oracle {

inline constexpr Micros kNever = Micros::max();
inline constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

enum class Phase : std::uint8_t { kReady, kMaking, kUnmaking };

struct Instance {
  mig::Placement placement;
  Phase phase = Phase::kReady;
  bool closing = false;
  std::size_t job = kNobody;
};

struct Gpu {
  std::vector<Instance> instances;  // in order of start
  std::optional<mig::Layout> target;
  std::optional<mig::ChangeStep> step;
  Micros step_end = kNever;
};

struct JobState {
  bool present = false;
  double work = 1;
  double need_gib = 0;  // as it is believed
  Micros deadline;
  Micros restart;
  Micros unpaid;  // of a restart after a loss: all of it, until the job makes progress
  // While it runs:
  bool running = false;
  std::size_t gpu = 0;
  mig::Placement placement;
  Micros piece_begin;
  Micros progress_from;
  Micros finish = kNever;
  // So far:
  bool started = false;
  JobOutcome outcome;
};

struct Seat {
  std::size_t job = 0;
  std::size_t gpu = 0;
  mig::Placement placement;
};

}  // namespace partita::oracle
