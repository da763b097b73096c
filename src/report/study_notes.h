// StudyNotes: what the runs of a result file do not say themselves: a title, which policy is the
// reference, further tables. NAME.study.json beside NAME.runs.jsonl (docs/reference/results.md).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace partita::report {

struct SettingNote {
  std::string name;
  std::string reference;
};

struct StudyNotes {
  std::string title;
  std::string source;                 // what it reproduces
  std::string generated_by;           // the command
  std::vector<SettingNote> settings;  // in the order to show
  // Whether days were added until all was decided: then only the sequential test may be believed.
  bool until_decided = false;
  bool bounds = false;  // whether bounds_path has what no schedule can beat on the same days
  nlohmann::ordered_json figures =
      nlohmann::ordered_json::array();  // as docs/reference/report.md has them
  // Further columns of the policies: setting -> policy -> label -> number or text.
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();
};

// NAME.study.json for NAME.runs.jsonl; NAME.day.json and NAME.bounds.runs.jsonl likewise.
std::string study_path(const std::string& result_path);
std::string day_path(const std::string& result_path);
std::string bounds_path(const std::string& result_path);

std::string format_notes(const StudyNotes& notes);
// The sentence of an error names the key; the caller adds the file.
Result<StudyNotes> parse_notes(std::string_view text);

}  // namespace partita::report
