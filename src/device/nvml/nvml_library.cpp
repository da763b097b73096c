#include "device/nvml/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstring>

namespace partita::device {
namespace {

using nvml::Return;

struct CodeRow {
  Return code;
  std::string_view name;
  Fault fault;
  std::string_view advice;
};

constexpr std::array kCodes = std::to_array<CodeRow>({
    {nvml::kUninitialized, "UNINITIALIZED", Fault::kDriverGone, ""},
    {nvml::kInvalidArgument, "INVALID_ARGUMENT", Fault::kInvalidArgument, ""},
    {nvml::kNotSupported, "NOT_SUPPORTED", Fault::kNotSupported, ""},
    {nvml::kNoPermission, "NO_PERMISSION", Fault::kNoPermission,
     "run as root, or grant read access to /proc/driver/nvidia/capabilities/mig/config"},
    {nvml::kNotFound, "NOT_FOUND", Fault::kNotFound, ""},
    {nvml::kInsufficientSize, "INSUFFICIENT_SIZE", Fault::kUnknown, ""},
    {nvml::kDriverNotLoaded, "DRIVER_NOT_LOADED", Fault::kDriverGone, ""},
    {nvml::kTimeout, "TIMEOUT", Fault::kTimeout, ""},
    {nvml::kLibraryNotFound, "LIBRARY_NOT_FOUND", Fault::kDriverGone, ""},
    {nvml::kFunctionNotFound, "FUNCTION_NOT_FOUND", Fault::kVersionMismatch, ""},
    {nvml::kGpuIsLost, "GPU_IS_LOST", Fault::kGpuLost,
     "it fell off the bus and needs a reset or a reboot"},
    {nvml::kResetRequired, "RESET_REQUIRED", Fault::kResetRequired, "reset the GPU"},
    {nvml::kLibRmVersionMismatch, "LIB_RM_VERSION_MISMATCH", Fault::kVersionMismatch,
     "library and kernel module differ: reload the driver or reboot"},
    {nvml::kInUse, "IN_USE", Fault::kInUse, ""},
    {nvml::kInsufficientResources, "INSUFFICIENT_RESOURCES", Fault::kInsufficientResources, ""},
    {nvml::kArgumentVersionMismatch, "ARGUMENT_VERSION_MISMATCH", Fault::kVersionMismatch, ""},
    {nvml::kNotReady, "NOT_READY", Fault::kResetRequired, ""},
    {nvml::kGpuNotFound, "GPU_NOT_FOUND", Fault::kNotFound, ""},
    {nvml::kInvalidState, "INVALID_STATE", Fault::kResetRequired, ""},
    {nvml::kUnknown, "UNKNOWN", Fault::kUnknown, ""},
});

const CodeRow* row_of(Return code) {
  for (const CodeRow& row : kCodes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

template <typename Function>
void look_up(void* handle, const char* symbol, Function& function, std::string& missing) {
  void* const found = ::dlsym(handle, symbol);
  static_assert(sizeof(found) == sizeof(function));
  std::memcpy(&function, &found, sizeof(function));
  if (found == nullptr) missing = symbol;
}

}  // namespace

Answer<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::load(const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return DeviceError{Fault::kDriverGone,
                       fmt::format("NVML is not there: {}", reason != nullptr ? reason : path),
                       {}};
  }
  auto library = std::make_shared<NvmlLibrary>();
  std::string missing;
#define PARTITA_NVML_LOOK_UP(field, symbol, parameters) \
  look_up(handle, #symbol, library->functions_.field, missing);
  PARTITA_NVML_FUNCTIONS(PARTITA_NVML_LOOK_UP)
#undef PARTITA_NVML_LOOK_UP
  if (!missing.empty()) {
    return DeviceError{
        Fault::kVersionMismatch,
        fmt::format("{} has no {}; a driver of R525 or newer is needed", path, missing),
        {}};
  }
  return std::shared_ptr<const NvmlLibrary>(std::move(library));
}

std::string nvml_code_name(Return code) {
  const CodeRow* const row = row_of(code);
  return row != nullptr ? fmt::format("NVML_ERROR_{} ({})", row->name, code)
                        : fmt::format("NVML error {}", code);
}

DeviceError nvml_error(Return code, std::string what) {
  const CodeRow* const row = row_of(code);
  std::string message = fmt::format("{}: {}", what, nvml_code_name(code));
  if (row != nullptr && !row->advice.empty()) message += fmt::format("; {}", row->advice);
  return {row != nullptr ? row->fault : Fault::kUnknown, std::move(message), {}};
}

}  // namespace partita::device
