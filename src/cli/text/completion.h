// Completion scripts for shells, made from the flag records.
#pragma once

#include <string>
#include <string_view>

namespace partita::cli {

// REQUIRES: shell is bash, zsh or fish.
std::string completion_script(std::string_view shell);

}  // namespace partita::cli
