#define Eigen Eigen_avx512  // NOLINT: see body.h
#define PARTITA_KERNELS avx512
#define PARTITA_KERNELS_NAME "avx512"
#include "nn/kernels/body.h"
#include "nn/kernels/kinds.h"

namespace partita::nn {

const Kernels& avx512_kernels() {
  return avx512::kKernels;
}

}  // namespace partita::nn
