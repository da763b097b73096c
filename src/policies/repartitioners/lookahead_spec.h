// The text form of a look-ahead repartitioner: "lookahead", "lookahead:horizon=3600,samples=8".
#pragma once

#include <string_view>

#include "policies/repartitioners/lookahead.h"

namespace partita::policies {

// KEY=VALUE pairs after the colon, separated by commas; what is not given keeps its default.
// `start` takes one layout for all GPUs or one for each, separated by slashes.
Result<LookaheadOptions> parse_lookahead(std::string_view text, const mig::GpuModel& model,
                                         std::uint32_t gpus);

}  // namespace partita::policies
