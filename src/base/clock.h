// Clock: the source of time. What waits or reads the time takes one, so that tests need not wait.
#pragma once

#include "base/units.h"

namespace partita {

class Clock {
 public:
  virtual ~Clock() = default;
  // Never goes backwards. Where it begins is the clock's own affair.
  virtual Micros now() = 0;
  virtual void sleep(Micros span) = 0;
};

// Microseconds since 1970; a step of the machine's clock backwards holds it until time catches up.
// May be used by several threads at once.
Clock& real_clock();

// Stands still unless someone sleeps or pushes it. For one thread.
class ManualClock : public Clock {
 public:
  Micros now() override { return now_; }
  void sleep(Micros span) override { advance(span); }
  void advance(Micros span) { now_ += span; }

 private:
  Micros now_;
};

}  // namespace partita
