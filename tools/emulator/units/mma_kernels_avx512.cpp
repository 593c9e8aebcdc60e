#define EMU_KERNEL_BYTES 64
#include "units/mma_kernels_impl.h"
// The next continues it.
#include "units/mma_kernels_fp4.h"

namespace emu::units {

extern const MmaKernels kAvx512Kernels;
const MmaKernels kAvx512Kernels{"avx512", prepare, exact, exact_fp4, fast};

}  // namespace emu::units
