#pragma once

#include <cuda.h>

#include "cuda/api.h"

// The driver API on top of the runtime's functions: same numbers for errors, same objects behind the handles.
namespace emu::cuda {

// The driver's code for what the runtime answered.
inline CUresult to_driver(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(error);
  }
}

// Calls the runtime without touching the last error that cudaGetLastError reports.
template <class Body>
CUresult driver_call(Body&& body) {
  const cudaError_t saved = last_error();
  const cudaError_t error = body();
  last_error() = saved;
  return to_driver(error);
}

inline void* to_pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace emu::cuda
