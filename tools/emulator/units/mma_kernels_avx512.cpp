#define EMU_KERNEL_BYTES 64
#include "units/mma_kernels_impl.h"

namespace emu::units {

extern const MmaKernels kAvx512Kernels;
const MmaKernels kAvx512Kernels{"avx512", prepare, exact, fast};

}  // namespace emu::units
