// Reading JSON that somebody else may have written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace partita::report {

// What the files of a report need is five deep; printing recurses, so there is an end to it.
inline constexpr int kNestingMax = 64;

// The error says what was found; the caller adds the file.
Result<nlohmann::ordered_json> parse_json(std::string_view text);

}  // namespace partita::report
