// The supervisor: a small process that runs one attempt and writes down how it went.
//
// It is not the daemon's child in any way that matters: when the daemon is killed the job goes on,
// and its end is found in a file. It stops the job when the daemon asks, with patience at first.
#pragma once

#include <string>

#include "launch/launcher.h"

namespace partita::launch {

// How long a job has between SIGTERM and SIGKILL, and its checkpoint command before that.
inline constexpr Micros kStopGrace = Micros::seconds(10);
inline constexpr Micros kCheckpointTime = Micros::seconds(60);

// Runs the attempt to its end; the exit status of the process. Does nothing when the attempt was
// claimed before.
int supervise(const std::string& folder, AttemptKey key);

}  // namespace partita::launch
