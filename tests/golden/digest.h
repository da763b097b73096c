// One 64-bit number over a run: whole numbers only, so that it is the same on every machine.
#pragma once

#include <cstdint>
#include <string>

#include "base/fnv.h"
#include "cases/case.h"

namespace partita::golden {

class Digest {
 public:
  void add(std::uint64_t value) { sum_.add(value); }
  void add(Micros time) { add(static_cast<std::uint64_t>(time.count)); }
  void add(const mig::Layout& layout);
  // Pieces by begin and place, layouts, job records and counters.
  void add(const sim::RunResult& result);

  std::uint64_t value() const { return sum_.value(); }
  std::string text() const;  // "0x0123456789abcdef"

 private:
  Fnv sum_;
};

// The schedule in order of begin, then place.
std::vector<sim::SchedulePiece> ordered_pieces(const sim::RunResult& result);

}  // namespace partita::golden
