// BalancedMix: layouts for a fleet of whose jobs nothing is known.
#pragma once

#include <cstdint>
#include <vector>

#include "mig/layout.h"

namespace partita::policies {

// A quarter of the GPUs whole, one at least, so that every job can run; a quarter in three
// instances, the rest in two, each as even as layouts of the model allow. What lies between whole
// GPUs, which serve few jobs at a time, and small slices, on which large jobs cannot run.
std::vector<mig::Layout> balanced_mix(const mig::GpuModel& model, std::uint32_t gpus);

}  // namespace partita::policies
