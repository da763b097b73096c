// Which GPUs of a backend the daemon serves.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/daemon.h"
#include "device/backend.h"

namespace partita::daemon {

// Also behind faulty:RULES@.
bool is_simulated(const std::string& backend);

// The backend of the settings; slices of a simulated GPU outlive the daemon, as those of a real one
// do.
std::string with_state_file(const Settings& settings);

// Those with MIG on, which are of one kind. Says which are left alone.
Result<std::vector<device::GpuInfo>> served_gpus(const std::vector<device::GpuInfo>& gpus,
                                                 void (*say)(const std::string&));

}  // namespace partita::daemon
