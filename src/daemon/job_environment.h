// What every job finds in its environment, besides what its owner gave it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/backend.h"

namespace partita::daemon {

// `given` (NAME=VALUE) comes first and is not overridden, and of two of a name the last counts;
// PATH, HOME, USER, LOGNAME, SHELL and LANG are filled in from the owner's account; nothing of the
// daemon's own environment gets through.
std::vector<std::string> job_environment(std::vector<std::string> given, std::uint32_t uid,
                                         const std::vector<device::EnvironmentVariable>& device);

}  // namespace partita::daemon
