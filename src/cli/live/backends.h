// Backends as verbs open them: --backend, and a way out for those who have no GPU here.
#pragma once

#include <memory>

#include "base/result.h"
#include "cli/flags/values.h"
#include "device/backend.h"

namespace partita::cli {

// What --backend names. The variable PARTITA_NVML_LIBRARY is another library for nvml.
Result<std::unique_ptr<device::Backend>> open_backend_of(const Values& values);

// A device's refusal as a verb's.
Error told(const device::DeviceError& error);

}  // namespace partita::cli
