// The device nodes that a job on a slice needs, as rules for its cgroup.
#pragma once

#include <cstdint>
#include <string>

#include "launch/confinement.h"

namespace partita::daemon {

// Of the nodes of GPUs and of their capabilities a job opens those of its own GPU and of its own
// GPU and compute instances, and the control node; so neither other slices nor the right to cut
// GPUs. `proc`: where the driver's files are, "/proc" but in tests. An error is why nothing is
// known of the slice: there is no NVIDIA driver, or it knows no such GPU or instance.
Result<launch::DeviceRules> device_rules(const std::string& proc, const std::string& gpu_uuid,
                                         std::uint32_t gpu_instance);

}  // namespace partita::daemon
