#include <nlohmann/json.hpp>

#include "base/check.h"
#include "cli/flags/presets.h"
#include "cli/flags/scenario.h"
#include "cli/flags/version.h"
#include "cli/text/completion.h"
#include "cli/text/help.h"
#include "cli/text/man_page.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

nlohmann::ordered_json flag_json(const FlagRecord& flag) {
  nlohmann::ordered_json json;
  json["flag"] = shown_name(flag);
  json["metavar"] = flag.metavar;
  json["default"] = flag.default_text;
  if (flag.has_range()) {
    json["low"] = flag.low;
    json["high"] = flag.high;
  }
  json["unit"] = flag.unit;
  json["sentence"] = flag.sentence;
  json["scenario_key"] = scenario_key(flag);
  if (flag.choices != nullptr) json["choices"] = flag.choices();
  return json;
}

nlohmann::ordered_json verb_json(const VerbRecord& record) {
  nlohmann::ordered_json verb;
  verb["verb"] = record.name;
  verb["summary"] = record.summary;
  verb["details"] = record.details;
  verb["examples"] = record.examples;
  for (const FlagRecord* flag : flags_of(record.verb)) verb["flags"].push_back(flag_json(*flag));
  return verb;
}

nlohmann::ordered_json verbs_json() {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const VerbRecord& record : verb_records()) json.push_back(verb_json(record));
  return json;
}

// A text that is the whole answer, or the same within JSON.
Outcome print_whole(const Values& values, Console& console, const char* key,
                    const std::string& text) {
  return print_either(values, console, nlohmann::ordered_json{{key, text}}, text);
}

ScenarioInfo info_of(const Preset& preset) {
  Values unused;
  const auto info = parse_scenario(preset.text, preset.name, "", unused);
  CHECK(info.ok());  // the tests read every preset
  return *info;
}

Outcome show_preset(const std::string& name, const Values& values, Console& console) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) {
      return print_whole(values, console, "toml", std::string(preset.text));
    }
  }
  CHECK(false);  // checked by the record
  return 0;
}

}  // namespace

Outcome run_help(const Values& values, Console& console) {
  if (values.has_switch("markdown")) {
    return print_whole(values, console, "markdown", markdown_help());
  }
  const Value* verb = values.given("VERB");
  if (verb == nullptr) return print_either(values, console, verbs_json(), program_help());
  const VerbRecord& record = *find_verb(verb->text);
  return print_either(values, console, verb_json(record), verb_help(record.verb));
}

Outcome run_scenarios(const Values& values, Console& console) {
  const Value* name = values.given("NAME");
  if (name != nullptr) return show_preset(name->text, values, console);
  if (values.given("ACTION") != nullptr) {
    return Error{"scenarios show needs the NAME of a preset; `partita scenarios` lists them"};
  }
  Table table({{"scenario", Align::kLeft}, {"what it is", Align::kLeft}});
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Preset& preset : presets()) {
    const ScenarioInfo info = info_of(preset);
    table.add({std::string(preset.name), info.description});
    json.push_back(
        {{"name", preset.name}, {"description", info.description}, {"source", info.source}});
  }
  return print_either(values, console, json, table.text(console.bold));
}

Outcome run_completion(const Values& values, Console& console) {
  const Value* shell = values.given("SHELL");
  if (shell == nullptr) return Error{"completion needs the SHELL: bash, zsh or fish"};
  return print_whole(values, console, "script", completion_script(shell->text));
}

Outcome run_man(const Values& values, Console& console) {
  return print_whole(values, console, "roff", man_page());
}

Outcome run_version(const Values& values, Console& console) {
  const std::string version(kVersion);
  return print_whole(values, console, "version",
                     values.has_switch("json") ? version : "partita " + version + "\n");
}

}  // namespace partita::cli
