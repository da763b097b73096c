#include "nn/kernels/kinds.h"

namespace partita::nn {

const Kernels& best_kernels() {
#if defined(PARTITA_X86_KERNELS)
  static const Kernels& best = []() -> const Kernels& {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
      return avx512_kernels();
    }
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return avx2 ? avx2_kernels() : portable_kernels();
  }();
  return best;
#else
  return portable_kernels();
#endif
}

}  // namespace partita::nn
