// Turns a CUDA runtime error into an exception that names the call.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

// Throws std::runtime_error "<what>: <error name>: <error string>" unless `status` is cudaSuccess.
inline void check_cuda(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(what + ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}
