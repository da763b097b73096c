#include "cli/live/backends.h"

#include <fmt/format.h>

#include <cstdlib>

#include "device/open.h"

namespace partita::cli {

Result<std::unique_ptr<device::Backend>> open_backend_of(const Values& values) {
  device::OpenOptions options;
  const char* const library = std::getenv("PARTITA_NVML_LIBRARY");
  if (library != nullptr && *library != '\0') options.nvml_library = library;
  Result<std::unique_ptr<device::Backend>> backend =
      device::open_backend(values.text("node-backend"), real_clock(), options);
  if (!backend) return values.wrong("node-backend", backend.error());
  return backend;
}

Error told(const device::DeviceError& error) {
  if (error.fault != device::Fault::kDriverGone) return {error.message};
  return {fmt::format("{}; --backend simulated:2xa100-40gb works without a GPU", error.message)};
}

}  // namespace partita::cli
