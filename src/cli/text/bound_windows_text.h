// Windows with their bounds and optimum (experiment/bound_windows.h), for people and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiment/bound_windows.h"

namespace partita::cli {

nlohmann::ordered_json windows_json(const experiment::ComparedWindows& compared);
std::string windows_text(const experiment::ComparedWindows& compared, bool bold);

}  // namespace partita::cli
