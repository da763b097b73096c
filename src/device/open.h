// Opening a backend by what a user types: "simulated:2xa100-40gb", "nvml", "faulty:F6@simulated".
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "device/backend.h"

namespace partita::device {

struct OpenOptions {
  std::string nvml_library = "libnvidia-ml.so.1";  // for "nvml" without a path of its own
};

// simulated[:GPUS,OPTIONS], nvml[:LIBRARY], faulty:RULES@BACKEND (RULES may also be seed=N,rate=X).
// `clock` outlives the backend. An unknown kind is answered with the known ones.
Result<std::unique_ptr<Backend>> open_backend(std::string_view text, Clock& clock,
                                              const OpenOptions& options = {});

}  // namespace partita::device
