#include "report/study_notes.h"

#include <fmt/format.h>

#include "report/json_text.h"

namespace partita::report {
namespace {

using Json = nlohmann::ordered_json;

std::string beside(const std::string& result_path, std::string_view ending) {
  constexpr std::string_view kRuns = ".runs.jsonl";
  std::string name = result_path;
  if (name.ends_with(kRuns)) name.resize(name.size() - kRuns.size());
  return name.append(ending);
}

// Absent keys are empty texts: a file of an older version has fewer.
Status take_text(const Json& json, const char* key, std::string& text) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  if (!found->is_string()) return Error{fmt::format("{}: wanted a text", key)};
  text = found->get<std::string>();
  return {};
}

Status take_flag(const Json& json, const char* key, bool& flag) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  if (!found->is_boolean()) return Error{fmt::format("{}: wanted true or false", key)};
  flag = found->get<bool>();
  return {};
}

Status take_settings(const Json& json, std::vector<SettingNote>& settings) {
  const auto found = json.find("settings");
  if (found == json.end()) return {};
  if (!found->is_array()) return Error{"settings: wanted a list"};
  for (const Json& row : *found) {
    SettingNote note;
    if (!row.is_object()) return Error{"settings: wanted objects with name and reference"};
    for (const Status& status :
         {take_text(row, "name", note.name), take_text(row, "reference", note.reference)}) {
      if (!status) return Error{"settings: " + status.error().message};
    }
    settings.push_back(std::move(note));
  }
  return {};
}

}  // namespace

std::string study_path(const std::string& result_path) {
  return beside(result_path, ".study.json");
}

std::string day_path(const std::string& result_path) {
  return beside(result_path, ".day.json");
}

std::string bounds_path(const std::string& result_path) {
  return beside(result_path, ".bounds.runs.jsonl");
}

std::string format_notes(const StudyNotes& notes) {
  Json json{{"title", notes.title}, {"source", notes.source}, {"generated_by", notes.generated_by}};
  json["settings"] = Json::array();
  for (const SettingNote& setting : notes.settings) {
    json["settings"].push_back({{"name", setting.name}, {"reference", setting.reference}});
  }
  json["until_decided"] = notes.until_decided;
  json["bounds"] = notes.bounds;
  json["figures"] = notes.figures;
  json["extra"] = notes.extra;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<StudyNotes> parse_notes(std::string_view text) {
  const auto parsed = parse_json(text);
  if (!parsed) return parsed.error();
  const Json& json = *parsed;
  if (!json.is_object()) return Error{"found something else, wanted an object with title, ..."};
  StudyNotes notes;
  for (const Status& status :
       {take_text(json, "title", notes.title), take_text(json, "source", notes.source),
        take_text(json, "generated_by", notes.generated_by), take_settings(json, notes.settings)}) {
    if (!status) return status.error();
  }
  for (const Status& status : {take_flag(json, "until_decided", notes.until_decided),
                               take_flag(json, "bounds", notes.bounds)}) {
    if (!status) return status.error();
  }
  if (const auto figures = json.find("figures"); figures != json.end()) notes.figures = *figures;
  if (!notes.figures.is_array()) return Error{"figures: wanted a list"};
  if (const auto extra = json.find("extra"); extra != json.end()) notes.extra = *extra;
  if (!notes.extra.is_object()) return Error{"extra: wanted an object"};
  return notes;
}

}  // namespace partita::report
