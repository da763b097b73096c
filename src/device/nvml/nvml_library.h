// NvmlLibrary: libnvidia-ml.so.1 loaded at run time, and what its return codes mean to a caller.
#pragma once

#include <memory>
#include <string>

#include "device/backend.h"
#include "device/nvml/nvml_api.h"

namespace partita::device {

// Stays loaded until the program ends: a call that hangs may still be inside it.
class NvmlLibrary {
 public:
  // kDriverGone when there is no such library, kVersionMismatch when it lacks a function we need.
  static Answer<std::shared_ptr<const NvmlLibrary>> load(const std::string& path);

  const nvml::Functions* operator->() const { return &functions_; }

 private:
  nvml::Functions functions_;
};

// "NVML_ERROR_IN_USE (19)".
std::string nvml_code_name(nvml::Return code);

// `what` is the beginning of the sentence: "GPU 0: creating 3g.71gb:4".
DeviceError nvml_error(nvml::Return code, std::string what);

}  // namespace partita::device
