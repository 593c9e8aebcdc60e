#define EMU_KERNEL_BYTES 32
#include "units/mma_kernels_impl.h"

namespace emu::units {

extern const MmaKernels kAvx2Kernels;
const MmaKernels kAvx2Kernels{"avx2", prepare, exact, fast};

}  // namespace emu::units
