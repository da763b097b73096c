// Checks a NAME.day.json (docs/reference/results.md) before it goes into a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "base/result.h"
#include "experiment/results/run_record.h"

namespace partita::report {

// One day or a list of them, every table with its columns. The sentence of an error names the place
// ("pieces.gpu: wanted 3 values as in pieces.job, found 2"); the caller adds the file.
Result<nlohmann::ordered_json> parse_days(std::string_view text);

// Whether each day is one of these runs: the same setting, policy and seed, and the same energy.
// REQUIRES: `days` is from parse_days.
Status check_days_are_of(const nlohmann::ordered_json& days,
                         std::span<const experiment::RunRecord> runs);

}  // namespace partita::report
