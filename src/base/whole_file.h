// WholeFile: reading a file at once, and replacing one such that it is there old or new, never
// half.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace partita {

// "cannot WHAT PATH: why", why being what errno says.
Error file_error(std::string_view what, const std::string& path);

Result<std::string> read_whole_file(const std::string& path);

// By way of PATH.new, which a crash may leave behind and the next call overwrites.
Status write_whole_file(const std::string& path, std::string_view text);

// All of it, also when the system takes it in pieces. `path` is for the message.
Status write_all(int fd, std::string_view text, const std::string& path);

}  // namespace partita
