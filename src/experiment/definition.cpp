#include "experiment/definition.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fnv.h"
#include "base/whole_file.h"

namespace partita::experiment {

std::string fingerprint(std::string_view text) {
  Fnv hash;
  hash.add(text);
  return fmt::format("{:016x}", hash.value());
}

std::string definition_path(const std::string& result_path) {
  constexpr std::string_view kEnding = ".runs.jsonl";
  std::string name = result_path;
  if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
  return name + ".meta.json";
}

Result<std::optional<std::string>> read_definition(const std::string& result_path) {
  const std::string path = definition_path(result_path);
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return std::optional<std::string>();
  const Result<std::string> text = read_whole_file(path);
  if (!text) return text.error();
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const Error unreadable{
      fmt::format("{}: found something else, wanted the definition of an experiment", path)};
  if (!json.is_object()) return unreadable;
  const auto definition = json.find("definition");
  if (definition == json.end() || !definition->is_string()) return unreadable;
  return std::optional(definition->get<std::string>());
}

Status write_definition(const std::string& result_path, const std::string& definition) {
  nlohmann::ordered_json json;
  json["fingerprint"] = fingerprint(definition);
  json["definition"] = definition;
  const std::string text =
      json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  return write_whole_file(definition_path(result_path), text);
}

}  // namespace partita::experiment
