#pragma once

#include "cuda/runtime.h"

namespace emu::cuda {

// Registers a module from what cuModuleLoadData and cudaLibraryLoadData accept: PTX text, a fat binary, or
// machine code (refused: cudaErrorNoKernelImageForDevice). Opens it at once, so that errors are the loading
// call's. Throws EngineError.
cudaError_t load_image(Runtime& runtime, const void* image, Module** out);
cudaError_t load_file(Runtime& runtime, const char* path, Module** out);

// A kernel of an open module by name, or null.
Kernel* kernel_named(Runtime& runtime, Module& module, const char* name);
// A variable of an open module by name, or null.
Variable* variable_named(Runtime& runtime, Module& module, const char* name);

}  // namespace emu::cuda
