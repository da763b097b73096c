#include "daemon/served_gpus.h"

#include <fmt/format.h>

#include <algorithm>

namespace partita::daemon {
namespace {

// Whether a placement means the same on both.
bool same_profiles(const mig::GpuModel& a, const mig::GpuModel& b) {
  return std::ranges::equal(a.profiles, b.profiles, [](const auto& left, const auto& right) {
    return left.name == right.name && left.starts == right.starts &&
           left.memory_slices == right.memory_slices && left.memory_gib == right.memory_gib;
  });
}

}  // namespace

bool is_simulated(const std::string& backend) {
  const auto at = backend.rfind('@');
  return backend.substr(at == std::string::npos ? 0 : at + 1).starts_with("simulated");
}

std::string with_state_file(const Settings& settings) {
  if (!is_simulated(settings.backend) || settings.backend.find("state=") != std::string::npos)
    return settings.backend;
  return settings.backend + ",state=" + settings.state + "/gpus.json";
}

Result<std::vector<device::GpuInfo>> served_gpus(const std::vector<device::GpuInfo>& gpus,
                                                 void (*say)(const std::string&)) {
  std::vector<device::GpuInfo> served;
  for (const device::GpuInfo& gpu : gpus) {
    if (gpu.model == nullptr || gpu.mode != device::MigMode::kEnabled) {
      say(fmt::format("GPU {} ({}) has MIG off or none and is left alone", gpu.id.value, gpu.name));
      continue;
    }
    if (!served.empty() && !same_profiles(*gpu.model, *served.front().model)) {
      return Error{fmt::format(
          "GPU {} is a {} and GPU {} a {} with other profiles; one daemon serves one kind",
          served.front().id.value, served.front().model->key, gpu.id.value, gpu.model->key)};
    }
    served.push_back(gpu);
  }
  if (served.empty()) {
    return Error{"there is no GPU with MIG mode on; `nvidia-smi -mig 1` turns it on"};
  }
  return served;
}

}  // namespace partita::daemon
