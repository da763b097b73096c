// The rules of the house: each is a function from text to what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "source_text.h"

namespace partita::tidy {

inline constexpr std::size_t kFunctionLinesMax = 70;
inline constexpr std::size_t kFileLinesMax = 600;
inline constexpr std::size_t kLineColumnsMax = 100;
inline constexpr std::uintmax_t kFileBytesMax = 512 * 1024;

struct Violation {
  std::string path;
  std::size_t line = 0;
  std::string message;  // what is wrong and what to do instead
};
using Violations = std::vector<Violation>;

// For *.h and *.cpp.
Violations long_functions(const File& file);
Violations long_file(const File& file);
Violations long_lines(const File& file);
Violations banned_calls(const File& file);
// Includes between modules that are no arrow of docs/internals/architecture.md.
Violations wrong_includes(const File& file);
// A header begins with a sentence that says what it is for, and has #pragma once.
Violations header_shape(const File& file);
// Headers of `files` that none of the others includes.
Violations unused_headers(const std::vector<File>& files);

// For every text file.
Violations leftover_markers(const File& file);
Violations machine_paths(const File& file);
// For *.md.
Violations markdown_title(const File& file);

// For every file.
Violations large_file(const std::string& path, std::uintmax_t bytes);

}  // namespace partita::tidy
