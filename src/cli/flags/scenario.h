// Scenario files: settings of a run as TOML (docs/reference/scenarios.md). A key is a flag by
// another name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/flags/values.h"

namespace partita::cli {

struct ScenarioInfo {
  std::string name;
  std::string description;
  std::string source;
};

// Sets what the text sets and the command line did not. `shown_name` is for messages, which say
// line and key; `folder` is where relative paths in it begin.
Result<ScenarioInfo> parse_scenario(std::string_view text, std::string_view shown_name,
                                    std::string_view folder, Values& values);

// A preset by its name, or a file when there is a slash or .toml in it.
Status load_scenario(const std::string& name_or_path, Values& values);

}  // namespace partita::cli
