// A layout drawn over the memory slices of its GPU: "|4g.20gb        |3g.20gb        |".
#pragma once

#include <string>

#include "mig/layout.h"

namespace partita::cli {

// Free slices are dots. A name that does not fit is cut to its compute slices: "1g".
std::string layout_picture(const mig::GpuModel& model, const mig::Layout& layout);

}  // namespace partita::cli
