// The catalogue's entries: one factory per GPU, in the file of its family.
#pragma once

#include "mig/gpu_model.h"

namespace partita::mig {

GpuModel make_a30_24gb();
GpuModel make_a100_40gb();
GpuModel make_a100_80gb();
GpuModel make_h100_80gb();
GpuModel make_h200_141gb();
GpuModel make_b200_180gb();

}  // namespace partita::mig
