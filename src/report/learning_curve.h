// The learning curve of a training log (`train --log`), as figures of the report page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace partita::report {

// Two figures: ET on the validation days by number of the validation, a curve for each phase of the
// training and one of the best so far; and energy there. Errors name the line.
Result<nlohmann::ordered_json> learning_figures(std::string_view log);

}  // namespace partita::report
