// Bounds beside results: what no schedule can beat, and how far a run is from it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/flags/values.h"
#include "experiment/results/run_record.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::cli {

// What no schedule can beat, in the place of a run (experiment/results/bound_record.h).
using RunBounds = experiment::RunRecord;

// The bounds of a run with these options where --bounds asks for them, within --time-limit; nothing
// about its policy matters.
Result<std::optional<RunBounds>> bounds_if_asked(const Values& values, const workload::Trace& trace,
                                                 const sim::RunOptions& options);

// How far above the bound, in percent; nothing when the bound is 0 and the value is not.
std::optional<double> gap_percent(double value, double bound);
// "12.3 %", or "-".
std::string shown_gap(double value, double bound);

// A result below a bound is an error: one of the two is wrong. `who` names the result.
Status check_bounds(const RunBounds& bounds, const sim::RunResult& result, std::string_view who);

// energy_bound_j, tardiness_bound_s, et_bound and the gaps in percent.
void add_gaps(nlohmann::ordered_json& json, const RunBounds& bounds, const sim::RunResult& result);
// What no schedule can beat, in one line for people.
std::string bounds_text(const RunBounds& bounds);
// The same with the gaps, in three.
std::string gaps_text(const RunBounds& bounds, const sim::RunResult& result);

}  // namespace partita::cli
