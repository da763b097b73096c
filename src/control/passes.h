// Passes: policies asked for layouts and for places, and what they answer carried out.
#pragma once

#include <cstdint>
#include <vector>

#include "control/moves.h"

namespace partita::control {

class Passes {
 public:
  Passes(ControlState& state, Moves& moves, const JobLengths& lengths)
      : state_(state), moves_(moves), lengths_(lengths) {}

  // Whether one is due now: for a timer at once, else not too soon after the last.
  bool due() const;
  void run();
  // When the next is wanted; Micros::max() when nothing asks for one.
  Micros next() const;
  std::uint64_t count() const { return count_; }

 private:
  void repartition();
  void decide();
  // What policies did of their own accord: a guard that trips or is released.
  void log_notes();
  void log_reservations();
  void show_forecaster();

  ControlState& state_;
  Moves& moves_;
  const JobLengths& lengths_;
  std::uint64_t count_ = 0;
  Micros last_;
  std::uint64_t reservations_said_ = 0;
  std::vector<decide::LayoutCourse> courses_;  // what the forecaster was shown last
};

}  // namespace partita::control
