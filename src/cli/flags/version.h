// The version of the program, which CMakeLists.txt states, and its commit.
#pragma once

#include <string_view>

namespace partita::cli {

extern const std::string_view kVersion;
// Of the source it was built from; "unknown" outside a repository.
extern const std::string_view kCommit;

}  // namespace partita::cli
