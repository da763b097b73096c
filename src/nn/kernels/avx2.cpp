#define Eigen Eigen_avx2  // NOLINT: see body.h
#define PARTITA_KERNELS avx2
#define PARTITA_KERNELS_NAME "avx2"
#include "nn/kernels/body.h"
#include "nn/kernels/kinds.h"

namespace partita::nn {

const Kernels& avx2_kernels() {
  return avx2::kKernels;
}

}  // namespace partita::nn
