#include "device/layouts/mig_config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"

namespace partita::device {
namespace {

constexpr std::size_t kTextMax = std::size_t{1} << 20U;
constexpr std::size_t kEntriesMax = 10'000;  // in all; aliases can make a small file a large one
constexpr std::size_t kDevicesMax = 4096;
constexpr std::size_t kProfilesMax = 64;
constexpr std::int64_t kCountMax = 64;

Error at(const YAML::Node& node, std::string_view message) {
  const YAML::Mark mark = node.Mark();
  if (mark.line < 0) return {std::string(message)};
  return {fmt::format("line {}: {}", mark.line + 1, message)};
}

std::string scalar(const YAML::Node& node) {
  return node.IsScalar() ? node.Scalar() : std::string();
}

// Names that a person can read and every YAML reader takes for a key.
bool is_name(const std::string& text) {
  constexpr std::size_t kNameMax = 256;
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (text.size() > kNameMax || std::ranges::any_of(text, control)) return false;
  try {
    return !nlohmann::json(text).dump().empty();  // throws on what is no UTF-8
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// The keys of a map, each once and each among `known` (any where that is empty).
Status check_keys(const YAML::Node& map, std::span<const std::string> known) {
  std::set<std::string> seen;
  for (const auto& pair : map) {
    if (!pair.first.IsScalar()) return at(map, "a key must be a word");
    const std::string key = pair.first.Scalar();
    if (!is_name(key))
      return at(pair.first, "a key must be UTF-8 of at most 256 bytes without control characters");
    if (!seen.insert(key).second) return at(pair.first, fmt::format("'{}' comes twice", key));
    if (!known.empty() && std::ranges::count(known, key) == 0) {
      return at(pair.first, unknown_name("key", key, known).message);
    }
  }
  return {};
}

// The value of a key, or an undefined node. (Node::operator[] would find the first of several.)
YAML::Node value_of(const YAML::Node& map, std::string_view key) {
  for (const auto& pair : map) {
    if (scalar(pair.first) == key) return pair.second;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

Result<std::uint32_t> parse_pci(const YAML::Node& node) {
  const std::string text = scalar(node);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + (hex ? 2 : 0), end, value, 16);
  if (!hex || text.size() != 10 || parsed.ec != std::errc() || parsed.ptr != end) {
    return at(node, fmt::format("device-filter: '{}' is no PCI identity like 0x20B010DE", text));
  }
  return value;
}

Status read_filter(const YAML::Node& node, MigConfigEntry& entry) {
  if (!node.IsSequence()) {
    if (scalar(node).empty()) return {};  // mig-parted writes "" for any
    const Result<std::uint32_t> pci = parse_pci(node);
    if (!pci) return pci.error();
    entry.device_filter.push_back(*pci);
    return {};
  }
  if (node.size() > kDevicesMax) return at(node, "device-filter: too many");
  for (const YAML::Node& item : node) {
    const Result<std::uint32_t> pci = parse_pci(item);
    if (!pci) return pci.error();
    entry.device_filter.push_back(*pci);
  }
  return {};
}

Status read_devices(const YAML::Node& node, MigConfigEntry& entry) {
  if (scalar(node) == "all") return {};
  if (!node.IsSequence() || node.size() > kDevicesMax) {
    return at(node, "devices: expected all or a list of GPU numbers, as in [0, 1]");
  }
  entry.devices.emplace();
  for (const YAML::Node& item : node) {
    const std::optional<std::int64_t> index = parse_int(scalar(item));
    if (!index || *index < 0 || *index >= static_cast<std::int64_t>(kDevicesMax)) {
      return at(item, fmt::format("devices: '{}' is no GPU number", scalar(item)));
    }
    entry.devices->push_back(static_cast<int>(*index));
  }
  return {};
}

Status read_profiles(const YAML::Node& node, MigConfigEntry& entry) {
  if (!node.IsMap()) return at(node, "mig-devices: expected a map, as in {\"1g.5gb\": 7}");
  if (node.size() > kProfilesMax) return at(node, "mig-devices: too many profiles");
  if (Status keys = check_keys(node, {}); !keys) return keys;
  for (const auto& pair : node) {
    const std::optional<std::int64_t> count = parse_int(scalar(pair.second));
    if (scalar(pair.first).empty() || !count || *count < 0 || *count > kCountMax) {
      return at(pair.second, fmt::format("mig-devices: '{}: {}' is no profile with a count of 0 "
                                         "to {}",
                                         scalar(pair.first), scalar(pair.second), kCountMax));
    }
    entry.mig_devices[scalar(pair.first)] = static_cast<int>(*count);
  }
  return {};
}

// The words of YAML 1.1, which mig-parted's reader takes for truth values. In quotes they are texts
// to it, and so they are here.
std::optional<bool> truth_of(const YAML::Node& node) {
  static const std::set<std::string> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                              "True", "TRUE", "on",  "On",  "ON"};
  static const std::set<std::string> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                               "False", "FALSE", "off", "Off", "OFF"};
  if (!node.IsScalar() || node.Tag() == "!") return {};
  if (kTrue.contains(node.Scalar())) return true;
  if (kFalse.contains(node.Scalar())) return false;
  return {};
}

Result<MigConfigEntry> read_entry(const YAML::Node& node) {
  static const std::vector<std::string> kKeys = {"device-filter", "devices", "mig-enabled",
                                                 "mig-devices"};
  MigConfigEntry entry;
  if (!node.IsMap()) return at(node, "expected devices, mig-enabled and mig-devices");
  if (Status keys = check_keys(node, kKeys); !keys) return keys.error();
  for (const char* needed : {"devices", "mig-enabled"}) {
    if (!value_of(node, needed).IsDefined())
      return at(node, fmt::format("'{}' is missing", needed));
  }
  const std::optional<bool> enabled = truth_of(value_of(node, "mig-enabled"));
  if (!enabled) {
    return at(value_of(node, "mig-enabled"),
              fmt::format("mig-enabled: '{}' is neither true nor false (or yes, no, on, off, "
                          "without quotes)",
                          scalar(value_of(node, "mig-enabled"))));
  }
  entry.mig_enabled = *enabled;
  const YAML::Node filter = value_of(node, "device-filter");
  const YAML::Node profiles = value_of(node, "mig-devices");
  Status status = read_devices(value_of(node, "devices"), entry);
  if (status.ok() && filter.IsDefined()) status = read_filter(filter, entry);
  if (status.ok() && profiles.IsDefined() && !profiles.IsNull()) {
    status = read_profiles(profiles, entry);
  }
  if (!status) return status.error();
  if (entry.mig_enabled && !profiles.IsDefined()) {
    return at(node, "'mig-devices' is missing; {} stands for none");
  }
  if (!entry.mig_enabled && !entry.mig_devices.empty()) {
    return at(node, "mig-devices with mig-enabled: false");
  }
  return entry;
}

Result<MigConfigFile> read_file(const YAML::Node& root) {
  static const std::vector<std::string> kKeys = {"version", "mig-configs"};
  if (!root.IsMap()) return Error{"expected version and mig-configs"};
  if (Status keys = check_keys(root, kKeys); !keys) return keys.error();
  const YAML::Node version = value_of(root, "version");
  if (!version.IsDefined() || scalar(version) != "v1") {
    return at(root, fmt::format("version: expected v1, found '{}'", scalar(version)));
  }
  const YAML::Node configs = value_of(root, "mig-configs");
  if (!configs.IsDefined() || !configs.IsMap()) return at(root, "'mig-configs' is missing");
  if (Status keys = check_keys(configs, {}); !keys) return keys.error();
  MigConfigFile file;
  std::size_t entries = 0;
  for (const auto& pair : configs) {
    MigConfig config;
    if (!pair.second.IsSequence()) return at(pair.second, "a configuration is a list of entries");
    entries += pair.second.size() + 1;
    if (entries > kEntriesMax) return at(pair.second, "too many entries");
    for (const YAML::Node& item : pair.second) {
      Result<MigConfigEntry> entry = read_entry(item);
      if (!entry) return entry.error();
      config.push_back(std::move(*entry));
    }
    file.configs.emplace_back(scalar(pair.first), std::move(config));
  }
  return file;
}

std::string pci_text(std::uint32_t pci) {
  return fmt::format("0x{:08X}", pci);
}

// Quoted, so that no label or profile can be read as anything but text.
std::string in_quotes(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string plain_or_quotes(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
  };
  const bool simple = !text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
                      std::ranges::all_of(text, plain);
  // Words that YAML takes for something else.
  static const std::set<std::string> kWords = {"null", "true", "false", "yes", "no", "on", "off"};
  return simple && !kWords.contains(text) ? text : in_quotes(text);
}

std::string entry_yaml(const MigConfigEntry& entry) {
  std::vector<std::string> lines;
  if (entry.device_filter.size() == 1) {
    lines.push_back(fmt::format("device-filter: {}", in_quotes(pci_text(entry.device_filter[0]))));
  } else if (!entry.device_filter.empty()) {
    std::vector<std::string> filters;
    for (const std::uint32_t pci : entry.device_filter) filters.push_back(in_quotes(pci_text(pci)));
    lines.push_back(fmt::format("device-filter: [{}]", fmt::join(filters, ", ")));
  }
  lines.push_back(entry.devices ? fmt::format("devices: [{}]", fmt::join(*entry.devices, ", "))
                                : "devices: all");
  lines.push_back(fmt::format("mig-enabled: {}", entry.mig_enabled));
  if (entry.mig_enabled && entry.mig_devices.empty()) lines.emplace_back("mig-devices: {}");
  if (!entry.mig_devices.empty()) {
    lines.emplace_back("mig-devices:");
    for (const auto& [profile, count] : entry.mig_devices) {
      lines.push_back(fmt::format("  {}: {}", in_quotes(profile), count));
    }
  }
  return fmt::format("    - {}\n", fmt::join(lines, "\n      "));
}

nlohmann::ordered_json entry_json(const MigConfigEntry& entry) {
  nlohmann::ordered_json json;
  if (entry.device_filter.size() == 1) json["device-filter"] = pci_text(entry.device_filter[0]);
  for (const std::uint32_t pci : entry.device_filter) {
    if (entry.device_filter.size() > 1) json["device-filter"].push_back(pci_text(pci));
  }
  json["devices"] = "all";
  if (entry.devices) json["devices"] = *entry.devices;
  json["mig-enabled"] = entry.mig_enabled;
  if (entry.mig_enabled) json["mig-devices"] = nlohmann::ordered_json::object();
  for (const auto& [profile, count] : entry.mig_devices) json["mig-devices"][profile] = count;
  return json;
}

}  // namespace

bool MigConfigEntry::matches(const GpuInfo& gpu) const {
  const bool part = device_filter.empty() || std::ranges::count(device_filter, gpu.pci) > 0;
  const auto index = static_cast<int>(gpu.id.value);
  return part && (!devices || std::ranges::count(*devices, index) > 0);
}

const MigConfig* MigConfigFile::find(std::string_view label) const {
  for (const auto& [name, config] : configs) {
    if (name == label) return &config;
  }
  return nullptr;
}

std::vector<std::string> MigConfigFile::labels() const {
  std::vector<std::string> names;
  for (const auto& [name, config] : configs) names.push_back(name);
  return names;
}

Result<MigConfigFile> parse_mig_config(std::string_view text) {
  if (text.size() > kTextMax) {
    return Error{fmt::format("{} bytes; a file of layouts has at most {}", text.size(), kTextMax)};
  }
  try {
    return read_file(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    return Error{fmt::format("line {}: {}", error.mark.line + 1, error.msg)};
  }
}

std::optional<std::size_t> second_document(std::string_view text) {
  std::size_t number = 0;
  bool content = false;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const bool mark = line == "---" || line.starts_with("--- ") || line == "---\r";
    if (mark && content) return number;
    const std::string_view words = trim(line);
    content = content || (!mark && !words.empty() && !words.starts_with('#'));
  }
  return {};
}

std::string format_mig_config(const MigConfigFile& file) {
  std::string text = "version: v1\nmig-configs:";
  if (file.configs.empty()) text += " {}";
  text += "\n";
  for (const auto& [label, config] : file.configs) {
    text += fmt::format("  {}:{}\n", plain_or_quotes(label), config.empty() ? " []" : "");
    for (const MigConfigEntry& entry : config) text += entry_yaml(entry);
  }
  return text;
}

std::string format_mig_config_json(const MigConfigFile& file) {
  nlohmann::ordered_json json;
  json["version"] = "v1";
  json["mig-configs"] = nlohmann::ordered_json::object();
  for (const auto& [label, config] : file.configs) {
    nlohmann::ordered_json& entries = json["mig-configs"][label];
    entries = nlohmann::ordered_json::array();
    for (const MigConfigEntry& entry : config) entries.push_back(entry_json(entry));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace partita::device
