// Profile table: what a driver says about the slices of one GPU, checked and made a GpuModel.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/nvml/nvml_api.h"
#include "mig/gpu_model.h"

namespace partita::device {

// One profile as NVML gives it.
struct DriverProfile {
  unsigned argument = 0;                 // which of nvml.h's GPU instance profiles was asked for
  nvml::GpuInstanceProfileV2 info = {};  // the name may be empty: older drivers give none
  std::vector<nvml::GpuInstancePlacement> placements;
};

// Profiles, ids and placements are the driver's. Change times and the power curve are those of the
// catalogue's part of this name, or else of its nearest sibling, marked as assumed. A table that no
// GPU can have is an error, so that nothing else has to distrust it.
Result<mig::GpuModel> model_from_driver(std::string_view gpu_name, std::int64_t memory_mib,
                                        std::span<const DriverProfile> profiles);

}  // namespace partita::device
