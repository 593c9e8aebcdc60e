#include "units/mma_kernels.h"

#include <cstring>

namespace emu::units {

extern const MmaKernels kPortableKernels;
#ifdef EMU_TENSOR_X86
extern const MmaKernels kAvx2Kernels;
extern const MmaKernels kAvx512Kernels;
#endif

void PackedOperand::resize(int new_count, int new_depth) {
  count = new_count;
  depth = new_depth;
  // A stride off the powers of two keeps the rows of one index out of a single cache set.
  stride = new_count + 16;
  values.resize(static_cast<std::size_t>(stride) * new_depth);
}

const MmaKernels* find_mma_kernels(const char* name) {
#ifdef EMU_TENSOR_X86
  if (std::strcmp(name, "avx512") == 0) {
    const bool can_run = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return can_run ? &kAvx512Kernels : nullptr;
  }
  if (std::strcmp(name, "avx2") == 0) {
    const bool can_run = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return can_run ? &kAvx2Kernels : nullptr;
  }
#endif
  return std::strcmp(name, "portable") == 0 ? &kPortableKernels : nullptr;
}

const MmaKernels& best_mma_kernels() {
  static const MmaKernels* const best = [] {
    for (const char* name : {"avx512", "avx2"}) {
      if (const MmaKernels* kernels = find_mma_kernels(name)) {
        return kernels;
      }
    }
    return &kPortableKernels;
  }();
  return *best;
}

}  // namespace emu::units
