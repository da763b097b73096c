// LayoutRequest: one GPU should have another layout.
#pragma once

#include "base/units.h"
#include "mig/layout.h"

namespace partita::decide {

struct LayoutRequest {
  GpuId gpu;
  mig::Layout layout;
};

}  // namespace partita::decide
