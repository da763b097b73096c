// The days of tuning and experiments: a generator's seeds, or windows of a trace.
#pragma once

#include "base/result.h"
#include "cli/console.h"
#include "cli/values.h"
#include "experiment/day_source.h"

namespace partita::cli {

// Of the file of --jobs, else of the generator of --kind.
Result<experiment::DaySource> day_source(const Values& values, const Console& console);

}  // namespace partita::cli
