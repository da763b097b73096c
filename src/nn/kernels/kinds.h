// The kinds of kernels this build has. Calling one the processor cannot run ends the program.
#pragma once

#include "nn/kernels/kernels.h"

namespace partita::nn {

const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace partita::nn
