// SimulatedOptions: which GPUs a simulated backend has and how it behaves, and their text form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mig/gpu_model.h"

namespace partita::device {

inline constexpr int kSimulatedGpusMax = 4096;

struct SimulatedOptions {
  std::vector<const mig::GpuModel*> gpus;
  // Where slices and the energy counter are kept, so that a killed daemon finds them again as on a
  // real GPU, and so that two programs see the same GPUs. Empty: they live as long as the backend.
  std::filesystem::path state_file;
  // Where processes report the memory they use (docs/reference/devices.md). Empty: beside the state
  // file, or a temporary folder.
  std::filesystem::path memory_dir;
  std::uint64_t seed = 0;   // of UUIDs
  double change_time = 1;   // factor on the model's create and destroy times; 0: none
  bool mig_enabled = true;  // at first
};

// "2xa100-40gb,h100-80gb,state=FILE,seed=7,change-time=0,mig=off": GPUs in order, then options in
// any order. GPUs as mig::find_gpu takes them.
Result<SimulatedOptions> parse_simulated(std::string_view text);

}  // namespace partita::device
