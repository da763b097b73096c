// The definition of an experiment, kept beside its result file so that runs of another definition
// are never taken for its own.
//
// It is a text of the caller's that changes whenever a run would: scenario, options, policies'
// exact parameters, version of the program. Not the number of days: more days of the same
// definition are what resuming is for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace partita::experiment {

// 16 hexadecimal digits, the same on every machine: FNV-1a.
std::string fingerprint(std::string_view text);

// NAME.meta.json for NAME.runs.jsonl.
std::string definition_path(const std::string& result_path);

// Nothing when there is no such file.
Result<std::optional<std::string>> read_definition(const std::string& result_path);
Status write_definition(const std::string& result_path, const std::string& definition);

}  // namespace partita::experiment
