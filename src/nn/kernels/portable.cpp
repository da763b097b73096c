#define Eigen Eigen_portable  // NOLINT: see body.h
#define PARTITA_KERNELS portable
#define PARTITA_KERNELS_NAME "portable"
#include "nn/kernels/body.h"
#include "nn/kernels/kinds.h"

namespace partita::nn {

const Kernels& portable_kernels() {
  return portable::kKernels;
}

}  // namespace partita::nn
