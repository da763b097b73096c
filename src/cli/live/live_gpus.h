// `partita gpus --live`: the GPUs of a backend with their slices, and who is on them.
#pragma once

#include "cli/flags/values.h"
#include "cli/output/console.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {

Outcome run_live_gpus(const Values& values, Console& console);

}  // namespace partita::cli
