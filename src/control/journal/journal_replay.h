// Replay: the turns of a journal run once more, and whether they gave what they gave then.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "control/journal/journal.h"

namespace partita::control {

// By name, as the daemon that was recorded made them.
using PolicyMaker = std::function<Result<Policies>(const Beginning&)>;

// What whoever watches a replay sees of a turn; valid during the call.
struct ReplayedTurn {
  std::int64_t number = 0;
  Micros at;
  const Beginning* beginning = nullptr;  // of a turn that begins
  std::span<const Input> inputs;
  const Turn& turn;
  const Controller& controller;  // after it
  bool same = true;              // as then
};

struct ReplaySummary {
  std::int64_t turns = 0;
  std::int64_t starts = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t different = 0;  // turns that gave something else than then
  bool closed = false;         // the daemon went on, but the journal was full
};

// The controller that a start of the daemon has, with its dry run in shadow mode.
// REQUIRES: `beginning` outlives it.
Result<std::unique_ptr<Controller>> make_controller(const Beginning& beginning,
                                                    const PolicyMaker& make);

// From the first turn of the journal to the last; `scratch` is an empty store to work in. An error
// means that the journal cannot be read, or that a policy of then cannot be made now.
Result<ReplaySummary> replay(store::Store& store, store::Store& scratch, const PolicyMaker& make,
                             const std::function<void(const ReplayedTurn&)>& see);

}  // namespace partita::control
