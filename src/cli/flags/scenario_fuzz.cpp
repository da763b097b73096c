#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/flags/scenario.h"

// Whatever the bytes, a scenario is read or refused with a sentence; and what was read passes the
// records' checks, or the getters would stop the program.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  partita::cli::Values values;
  const auto info = partita::cli::parse_scenario(text, "fuzz.toml", "", values);
  if (!info) {
    CHECK(info.error().message.starts_with("fuzz.toml line "));
    return 0;
  }
  for (const auto& [name, value] : values.all()) {
    const partita::cli::FlagRecord* flag = partita::cli::find_flag(name);
    CHECK(flag != nullptr);
    CHECK(partita::cli::parse_value(*flag, value.text).ok());
  }
  return 0;
}
