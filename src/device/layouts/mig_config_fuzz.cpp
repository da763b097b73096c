// What the reader of layout files accepts prints and reads back to the same, as YAML and as JSON.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "device/layouts/mig_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace partita::device;
  const auto file = parse_mig_config({reinterpret_cast<const char*>(data), size});
  if (!file) {
    CHECK(!file.error().message.empty());
    return 0;
  }
  const auto again = parse_mig_config(format_mig_config(*file));
  CHECK(again.ok());
  CHECK(*again == *file);
  const auto from_json = parse_mig_config(format_mig_config_json(*file));
  CHECK(from_json.ok());
  CHECK(*from_json == *file);
  return 0;
}
