// How a tuned mix is told, and how sure it is: as JSON (docs/guides/tuning.md) and as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiment/tuning/tune.h"

namespace partita::cli {

nlohmann::ordered_json tuned_json(const experiment::TunedMix& tuned);

// The flag to copy, the expected ET on days that were left out, and sentences on how sure that is.
std::string tuned_text(const experiment::TunedMix& tuned, bool bold);

}  // namespace partita::cli
