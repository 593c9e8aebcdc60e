#define EMU_KERNEL_BYTES 32
#include "units/mma_kernels_impl.h"
// The next continues it.
#include "units/mma_kernels_fp4.h"

namespace emu::units {

extern const MmaKernels kAvx2Kernels;
const MmaKernels kAvx2Kernels{"avx2", prepare, exact, exact_fp4, fast};

}  // namespace emu::units
