#define EMU_KERNEL_BYTES 16
#include "units/mma_kernels_impl.h"
// The next continues it.
#include "units/mma_kernels_fp4.h"

namespace emu::units {

extern const MmaKernels kPortableKernels;
const MmaKernels kPortableKernels{"portable", prepare, exact, exact_fp4, fast};

}  // namespace emu::units
