// The JSON of a body, as far as it is taken at all: one object, nowhere deep, no name twice.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace partita::api {

// What a body may hold beside its size (api/http.h). Counted before anything is built of it, so
// that a megabyte of brackets costs no more than reading it.
inline constexpr std::size_t kBodyDepthMax = 4;
inline constexpr std::size_t kBodyNamesMax = 256;
inline constexpr std::size_t kBodyValuesMax = 200'000;

// The object, or a sentence on why it is refused.
Result<nlohmann::json> parse_body(std::string_view text);

}  // namespace partita::api
