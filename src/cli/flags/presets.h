// The scenario files that ship inside the program, made from scenarios/*.toml by the build.
#pragma once

#include <span>
#include <string_view>

namespace partita::cli {

struct Preset {
  std::string_view name;  // of the file, without .toml
  std::string_view text;
};

std::span<const Preset> presets();  // sorted by name

}  // namespace partita::cli
