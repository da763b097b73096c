#include "cli/flags/scenario.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/text.h"
#include "cli/flags/limits.h"
#include "cli/flags/name_lists.h"
#include "cli/flags/presets.h"
#include "workload/csv.h"

namespace partita::cli {
namespace {

// What TOML has for a value where text is wanted: strings, and lists of strings or numbers, which
// are written with commas on the command line.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  const auto* list = node.as_array();
  if (list == nullptr) return {};
  std::vector<std::string> parts;
  for (const toml::node& item : *list) {
    if (item.is_array()) return {};
    const auto part = text_of(item);
    if (!part) return {};
    parts.push_back(*part);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

// The value as the flag would have it on the command line; nothing when TOML has another type.
std::optional<std::string> flag_text(const FlagRecord& flag, const toml::node& node) {
  switch (flag.kind) {
    case ValueKind::kSwitch:
      if (const auto* on = node.as_boolean()) return on->get() ? "true" : "false";
      return {};
    case ValueKind::kCount:
      return node.is_integer() ? text_of(node) : std::nullopt;
    case ValueKind::kNumber:
    case ValueKind::kSeconds:
      return node.is_number() ? text_of(node) : std::nullopt;
    case ValueKind::kText:
      return node.is_number() ? std::nullopt : text_of(node);
    default:
      return node.is_string() ? text_of(node) : std::nullopt;
  }
}

std::string_view type_wanted(const FlagRecord& flag) {
  switch (flag.kind) {
    case ValueKind::kSwitch:
      return "true or false";
    case ValueKind::kCount:
      return "a whole number";
    case ValueKind::kNumber:
    case ValueKind::kSeconds:
      return "a number";
    default:
      return "text in quotes";
  }
}

class ScenarioReader {
 public:
  ScenarioReader(std::string_view shown_name, std::string_view folder, Values& values)
      : shown_name_(shown_name), folder_(folder), values_(values) {}

  Result<ScenarioInfo> read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const Status good = key.str() == "policies" ? read_policies(node)
                          : node.is_table()       ? read_section(key.str(), *node.as_table())
                                                  : read_top(key.str(), node);
      if (!good) return good.error();
    }
    return info_;
  }

 private:
  Error at(const toml::node& node, std::string_view sentence) const {
    return {fmt::format("{} line {}: {}", shown_name_, node.source().begin.line, sentence)};
  }

  Status read_top(std::string_view key, const toml::node& node) {
    std::string* field = key == "name"          ? &info_.name
                         : key == "description" ? &info_.description
                         : key == "source"      ? &info_.source
                                                : nullptr;
    if (field == nullptr && !keys_of(key).empty()) {
      return at(node, fmt::format("{} is a section: write [{}] on a line of its own", key, key));
    }
    if (field == nullptr) {
      return at(node,
                unknown_name("key", key, std::vector<std::string>{"name", "description", "source"})
                        .message +
                    "; and the sections " + sections());
    }
    if (!node.is_string()) return at(node, fmt::format("{}: wanted text in quotes", key));
    *field = node.as_string()->get();
    return {};
  }

  Status read_section(std::string_view section, const toml::table& table) {
    const std::vector<std::string> keys = keys_of(section);
    if (keys.empty()) {
      return at(table,
                fmt::format("unknown section {}; known: {}", workload::shown(section), sections()));
    }
    for (const auto& [key, node] : table) {
      const std::string full = fmt::format("{}.{}", section, key.str());
      if (std::find(keys.begin(), keys.end(), full) == keys.end()) {
        return at(node, unknown_name("key", full, keys).message);
      }
      const Status good = read_value(flag_of(full), full, node);
      if (!good) return good;
    }
    return {};
  }

  Status read_policies(const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr || !list->is_array_of_tables()) {
      return at(node, "policies is a list: write [[policies]] above each one");
    }
    values_.policies.clear();
    for (const toml::node& item : *list) {
      PolicyEntry entry;
      entry.place = fmt::format("{} line {}", shown_name_, item.source().begin.line);
      for (const auto& [key, value] : *item.as_table()) {
        const Status good = read_policy_key(entry, key.str(), value);
        if (!good) return good;
      }
      if (entry.name.empty()) return at(item, "policies.name: every policy needs a name");
      for (const PolicyEntry& other : values_.policies) {
        if (other.name == entry.name) {
          return at(item, fmt::format("policies.name: there are two policies '{}'", entry.name));
        }
      }
      values_.policies.push_back(std::move(entry));
    }
    return {};
  }

  Status read_policy_key(PolicyEntry& entry, std::string_view key, const toml::node& node) const {
    constexpr std::array<std::string_view, 5> kKeys{"name", "scheduler", "repartition",
                                                    "preemption", "repartition_cost"};
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      std::vector<std::string> known;
      for (const std::string_view name : kKeys) known.push_back(fmt::format("policies.{}", name));
      return at(node, unknown_name("key", fmt::format("policies.{}", key), known).message);
    }
    if (!node.is_string()) return at(node, fmt::format("policies.{}: wanted text in quotes", key));
    const std::string& text = node.as_string()->get();
    if (key == "name") {
      entry.name = text;
      return {};
    }
    std::string flag(key);
    std::replace(flag.begin(), flag.end(), '_', '-');
    const Result<ParsedValue> value = parse_value(*find_flag(flag), text);
    if (!value) return at(node, fmt::format("policies.{}: {}", key, value.error().message));
    if (key == "scheduler") entry.scheduler = text;
    if (key == "repartition") entry.repartition = text;
    if (key == "preemption") entry.preemption = value->as<decide::Preemption>();
    if (key == "repartition_cost") entry.repartition_cost = value->as<sim::RepartitionCost>();
    return {};
  }

  Status read_value(const FlagRecord& flag, const std::string& key, const toml::node& node) {
    std::optional<std::string> text = flag_text(flag, node);
    if (!text) return at(node, fmt::format("{}: wanted {}", key, type_wanted(flag)));
    if (flag.kind == ValueKind::kInput && *text != "-" && !text->empty()) {
      text = (std::filesystem::path(folder_) / *text).string();
    }
    return values_.set(
        flag,
        {*text, fmt::format("{} line {}, {}", shown_name_, node.source().begin.line, key), false});
  }

  static std::string sections() {
    std::vector<std::string> names;
    for (const FlagRecord& flag : flag_records()) {
      const std::string section(flag.section);
      if (section.empty() || std::find(names.begin(), names.end(), section) != names.end()) {
        continue;
      }
      names.push_back(section);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  static std::vector<std::string> keys_of(std::string_view section) {
    std::vector<std::string> keys;
    for (const FlagRecord& flag : flag_records()) {
      if (!flag.section.empty() && flag.section == section) keys.push_back(scenario_key(flag));
    }
    return keys;
  }

  static const FlagRecord& flag_of(const std::string& key) {
    const auto flags = flag_records();
    return *std::find_if(flags.begin(), flags.end(),
                         [&](const FlagRecord& flag) { return scenario_key(flag) == key; });
  }

  std::string shown_name_;
  std::string folder_;
  Values& values_;
  ScenarioInfo info_;
};

Result<std::string> read_file(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    return Error{fmt::format("cannot read {}: Is a directory", path)};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  std::string text(kScenarioBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kScenarioBytesMax) {
    return Error{fmt::format("{} is larger than {} bytes", path, kScenarioBytesMax)};
  }
  return text;
}

}  // namespace

Result<ScenarioInfo> parse_scenario(std::string_view text, std::string_view shown_name,
                                    std::string_view folder, Values& values) {
  try {
    const toml::table root = toml::parse(text);
    return ScenarioReader(shown_name, folder, values).read(root);
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("{} line {}, column {}: {}", shown_name, error.source().begin.line,
                             error.source().begin.column, error.description())};
  }
}

Status load_scenario(const std::string& name_or_path, Values& values) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
  if (is_path) {
    const Result<std::string> text = read_file(name_or_path);
    if (!text) return text.error();
    const std::string folder = std::filesystem::path(name_or_path).parent_path().string();
    const auto info = parse_scenario(*text, name_or_path, folder, values);
    return info ? Status{} : Status(info.error());
  }
  for (const Preset& preset : presets()) {
    if (preset.name != name_or_path) continue;
    const auto info =
        parse_scenario(preset.text, fmt::format("scenario {}", preset.name), "", values);
    return info ? Status{} : Status(info.error());
  }
  Error unknown = unknown_name("scenario", name_or_path, preset_names());
  unknown.message += ", or the path of a file with a slash or .toml in it";
  return unknown;
}

}  // namespace partita::cli
