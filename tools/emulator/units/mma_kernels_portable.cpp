#define EMU_KERNEL_BYTES 16
#include "units/mma_kernels_impl.h"

namespace emu::units {

extern const MmaKernels kPortableKernels;
const MmaKernels kPortableKernels{"portable", prepare, exact, fast};

}  // namespace emu::units
