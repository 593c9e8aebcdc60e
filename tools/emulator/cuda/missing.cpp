// Where the generated stubs of unimplemented API functions end up.
#include <cuda.h>

#include <string>

#include "cuda/api.h"

extern "C" int emu_missing_runtime_call(const char* name) {
  using namespace emu::cuda;
  return record(not_supported(name, "this CUDA runtime function is not emulated"));
}

extern "C" int emuMissingDriverCall(const char* name) {
  emu::cuda::not_supported(name, "this CUDA driver function is not emulated");
  return CUDA_ERROR_NOT_SUPPORTED;
}
