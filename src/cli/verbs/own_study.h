// An experiment of the user's own: the settings of the flags and the scenario file as a Study.
#pragma once

#include "base/result.h"
#include "cli/flags/values.h"
#include "cli/output/console.h"
#include "experiment/study.h"

namespace partita::cli {

// Its policies are those of [[policies]]; without any, what is set (the reference) beside whole
// GPUs, looking ahead from the same layouts, and on-demand slicing.
Result<experiment::Study> own_study(const Values& values, const Console& console);

}  // namespace partita::cli
