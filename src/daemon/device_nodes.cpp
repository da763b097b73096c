#include "daemon/device_nodes.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/text.h"

namespace partita::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kControlMinor = 255;  // /dev/nvidiactl

std::optional<std::uint32_t> number_of(std::string_view text) {
  const auto number = parse_int(trim(text));
  if (!number || *number < 0 || *number > 0xffffffLL) return {};
  return static_cast<std::uint32_t>(*number);
}

// "Device Minor: \t 0": the value behind the name.
std::optional<std::string> field_of(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, colon) != name) continue;
    return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

// "241 nvidia-caps" among the character devices.
std::optional<std::uint32_t> major_of(const std::string& proc, std::string_view name) {
  std::ifstream file(proc + "/devices");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Block")) return {};
    const std::string_view text = trim(line);
    const auto blank = text.find(' ');
    if (blank != std::string_view::npos && text.substr(blank + 1) == name) {
      return number_of(text.substr(0, blank));
    }
  }
  return {};
}

std::optional<std::uint32_t> gpu_minor(const std::string& proc, const std::string& uuid) {
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(proc + "/driver/nvidia/gpus", failed)) {
    const fs::path path = each.path() / "information";
    if (field_of(path, "GPU UUID") != uuid) continue;
    const auto minor = field_of(path, "Device Minor");
    return minor ? number_of(*minor) : std::nullopt;
  }
  return {};
}

// The capability of the GPU instance, and those of its compute instances.
std::vector<std::uint32_t> capability_minors(const fs::path& instance) {
  std::vector<std::uint32_t> minors;
  const auto add = [&](const fs::path& path) {
    const auto text = field_of(path, "DeviceFileMinor");
    if (const auto minor = text ? number_of(*text) : std::nullopt) minors.push_back(*minor);
  };
  add(instance / "access");
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(instance, failed)) {
    if (each.path().filename().string().starts_with("ci")) add(each.path() / "access");
  }
  return minors;
}

}  // namespace

Result<launch::DeviceRules> device_rules(const std::string& proc, const std::string& gpu_uuid,
                                         std::uint32_t gpu_instance) {
  const auto gpus =
      major_of(proc, "nvidiactl") ? major_of(proc, "nvidiactl") : major_of(proc, "nvidia-frontend");
  const auto capabilities = major_of(proc, "nvidia-caps");
  if (!gpus || !capabilities) return Error{"the machine has no NVIDIA driver with capabilities"};
  const auto minor = gpu_minor(proc, gpu_uuid);
  if (!minor) return Error{fmt::format("the driver has no GPU {}", gpu_uuid)};
  const fs::path instance =
      fmt::format("{}/driver/nvidia/capabilities/gpu{}/mig/gi{}", proc, *minor, gpu_instance);
  const std::vector<std::uint32_t> minors = capability_minors(instance);
  if (minors.size() < 2) {
    return Error{fmt::format("{} does not say which capabilities a job needs", instance.string())};
  }
  launch::DeviceRules rules;
  rules.governed = {*gpus, *capabilities};
  rules.allowed = {{*gpus, *minor}, {*gpus, kControlMinor}};
  for (const std::uint32_t each : minors) rules.allowed.push_back({*capabilities, each});
  return rules;
}

}  // namespace partita::daemon
