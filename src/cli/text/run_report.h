// How a finished run is told: as JSON and as a table with units.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/flags/run_settings.h"

namespace partita::cli {

struct EtParts {
  double energy = 0;
  double tardiness = 0;
};
// The two addends of ET.
EtParts et_parts(double et_a, const sim::RunResult& result);

// Everything but wall_s is the same in every run with the same settings.
nlohmann::ordered_json run_json(const RunSettings& settings, const experiment::PolicyRun& run);
std::string run_text(const RunSettings& settings, const experiment::PolicyRun& run, bool bold);

// The double nearest to the decimal number, which Micros::to_seconds is not always.
double seconds_of(Micros time);

// A number of seconds for people: "12.3 s", "4.5 min", "1.2 h".
std::string shown_seconds(double seconds);

}  // namespace partita::cli
