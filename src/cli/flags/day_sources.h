// The days of tuning and experiments: a generator's seeds, or windows of a trace.
#pragma once

#include <vector>

#include "base/result.h"
#include "cli/flags/values.h"
#include "cli/output/console.h"
#include "experiment/day_source.h"

namespace partita::cli {

// Of the file of --jobs, else of the generator of --kind.
Result<experiment::DaySource> day_source(const Values& values, const Console& console);

// All windows of the file of --jobs, in order: those for tuning and those for testing.
Result<std::vector<workload::Trace>> windows_of_trace(const Values& values, const Console& console);

// Of --window.
Micros window_length(const Values& values);

}  // namespace partita::cli
