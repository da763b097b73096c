// How much memory some of a GPU's profiles have. Bit i of `profiles` is profile i.
#pragma once

#include <cstdint>
#include <optional>

#include "mig/gpu_model.h"

namespace partita::mig {

// The least memory above `gib`; nothing when none has more.
std::optional<double> next_larger_memory(const GpuModel& model, std::uint16_t profiles, double gib);
// 0 when there are no profiles.
double largest_memory(const GpuModel& model, std::uint16_t profiles);

}  // namespace partita::mig
