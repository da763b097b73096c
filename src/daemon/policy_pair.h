// The policies of a daemon by name: those of the simulator, but for what only it can give them.
#pragma once

#include <string>

#include "control/replay.h"

namespace partita::daemon {

Result<control::PolicyPair> make_policies(const control::Beginning& beginning);

// What an operator may not have meant by a policy; empty: nothing.
std::string doubt_about(const std::string& policy);

}  // namespace partita::daemon
