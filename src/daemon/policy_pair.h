// The policies of a daemon by name: those of the simulator, but for what only it can give them.
#pragma once

#include "control/replay.h"

namespace partita::daemon {

Result<control::PolicyPair> make_policies(const control::Beginning& beginning);

}  // namespace partita::daemon
