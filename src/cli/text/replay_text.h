// Turns of a replay as lines and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "control/journal/journal_replay.h"

namespace partita::cli {

// What went in and what came out, a line each; readings of GPUs that led to nothing are left out.
struct TurnLines {
  std::vector<std::string> in;
  std::vector<std::string> out;
};

// With a job, only what concerns it.
TurnLines lines_of(const control::ReplayedTurn& turn, std::optional<JobNumber> job);

nlohmann::ordered_json turn_json(const control::ReplayedTurn& turn, const TurnLines& lines);

}  // namespace partita::cli
