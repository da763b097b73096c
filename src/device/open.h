// Opening a backend by what a user types: "simulated:2xa100-40gb".
#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "device/backend.h"

namespace partita::device {

// `clock` outlives the backend. An unknown kind is answered with the known ones.
Result<std::unique_ptr<Backend>> open_backend(std::string_view text, Clock& clock);

}  // namespace partita::device
