// MigConfigFile: the layouts of a node as NVIDIA's mig-parted writes them (version v1 of its YAML).
//
//   version: v1
//   mig-configs:
//     balanced:
//     - devices: all
//       mig-enabled: true
//       mig-devices: {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/backend.h"

namespace partita::device {

// What some of the GPUs are to look like.
struct MigConfigEntry {
  std::vector<std::uint32_t> device_filter;  // PCI device and vendor; empty: any
  std::optional<std::vector<int>> devices;   // indices; nothing: all
  bool mig_enabled = false;
  std::map<std::string, int> mig_devices;  // profile as written, and how many

  // Whether it is about this GPU.
  bool matches(const GpuInfo& gpu) const;

  bool operator==(const MigConfigEntry&) const = default;
};

using MigConfig = std::vector<MigConfigEntry>;

struct MigConfigFile {
  std::vector<std::pair<std::string, MigConfig>> configs;  // by label, in the file's order

  const MigConfig* find(std::string_view label) const;
  std::vector<std::string> labels() const;

  bool operator==(const MigConfigFile&) const = default;
};

// Unknown keys, missing keys and other versions are errors that name the line. What is accepted is
// what mig-parted accepts, truth values as yes and Off included, except that a label may come only
// once. Of several documents the first is read. The text may also be JSON.
Result<MigConfigFile> parse_mig_config(std::string_view text);

// The line of the --- behind which a second document begins; it is not read, here or by mig-parted.
std::optional<std::size_t> second_document(std::string_view text);

// As mig-parted writes it; reads back to the same.
std::string format_mig_config(const MigConfigFile& file);
std::string format_mig_config_json(const MigConfigFile& file);

}  // namespace partita::device
