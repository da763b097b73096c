// Scenario: a small run with its expected result as a text file (README.md has the format).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cases/case.h"

namespace partita::scenarios {

struct ExpectedPiece {
  std::string job;
  std::size_t gpu = 0;
  std::string placement;  // "3g.20gb:4"
  Micros begin;
  Micros end;
};

struct ExpectedLayout {
  std::size_t gpu = 0;
  Micros begin;
  Micros end;
  std::string layout;
};

struct Scenario {
  cases::Case run;
  std::string repartition;  // as a user writes it; empty when `switch` lines give the layouts
  std::vector<ExpectedPiece> pieces;
  std::vector<ExpectedLayout> layouts;          // checked when there are any
  std::map<std::string, Micros> tardiness;      // of the late jobs
  std::map<std::string, std::uint64_t> counts;  // "preemptions", ...
  std::optional<double> energy_j;
  std::optional<std::string> fails;  // a part of the message
};

// The error names the line.
Result<Scenario> parse_scenario(std::string_view text);

Result<sim::RunResult> run(const Scenario& scenario);

}  // namespace partita::scenarios
