// Recorder: puts turns into the batches that make them durable.
#pragma once

#include <cstdint>
#include <vector>

#include "control/journal/journal.h"

namespace partita::control {

// Beyond these no more turns are kept until the next start, which begins the journal anew; so does
// one that finds more than half of the bytes.
inline constexpr std::int64_t kJournalBytesMax = std::int64_t{256} << 20U;
struct JournalLimits {
  std::int64_t bytes = kJournalBytesMax;
  Micros age = {};  // of its first turn; 0: any
};
// A turn with more (a flood of large submissions) closes the journal too.
inline constexpr std::int64_t kTurnBytesMax = std::int64_t{16} << 20U;

// Whether a start should begin the journal anew.
inline bool should_begin_anew(const store::Store::JournalSize& size, const JournalLimits& limits,
                              Micros now) {
  const bool old =
      limits.age > Micros{} && size.first_us > 0 && now - Micros{size.first_us} > limits.age;
  return size.closed || size.bytes > limits.bytes / 2 || old;
}

class Recorder {
 public:
  // A journal that is closed stays closed.
  explicit Recorder(const store::Store::JournalSize& size, const JournalLimits& limits = {})
      : number_(size.last_turn),
        bytes_(size.bytes),
        first_(size.first_us),
        limits_(limits),
        closed_(size.closed) {}

  // The turn that restore() gave.
  void begin(Micros now, const Beginning& beginning, Turn& turn);
  // A turn of step(). One that leaves nothing for the store waits for the next that does: should
  // the daemon die before, it changed nothing that anybody will ever know.
  void note(Micros now, std::span<const Input> inputs, Turn& turn);

  // The journal has come to its limits; nothing more is kept.
  bool closed() const { return closed_; }

 private:
  void add(Micros now, store::TurnKind kind, std::string bytes, Turn& turn);

  std::int64_t number_;
  std::int64_t bytes_;
  Micros first_;  // when its first turn was taken; 0: there is none yet
  JournalLimits limits_;
  InputWriter writer_;
  std::vector<store::TurnRow> waiting_;
  std::int64_t waiting_bytes_ = 0;
  bool closed_;
};

}  // namespace partita::control
