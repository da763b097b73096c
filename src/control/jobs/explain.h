// Why a job waits: what it needs, and on each GPU who holds the space for it.
#pragma once

#include <string>
#include <vector>

#include "control/controller.h"

namespace partita::control {

// One sentence for the need, then one for each of the first GPUs. Empty when the job does not wait.
std::vector<std::string> why_waiting(const Controller& controller, const Job& job);

}  // namespace partita::control
