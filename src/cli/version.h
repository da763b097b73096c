// The version of the program, which CMakeLists.txt states.
#pragma once

#include <string_view>

namespace partita::cli {

extern const std::string_view kVersion;

}  // namespace partita::cli
