#include <cuda.h>
#include <cuda_runtime.h>

#include <string>

#include "testing/catch.h"

TEST_CASE("error names are the enumerators' own") {
  CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
  CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
  CHECK(std::string(cudaGetErrorName(cudaErrorTensorMemoryLeak)) == "cudaErrorTensorMemoryLeak");
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))) == "unrecognized error code");
  const char* name = nullptr;
  CHECK(cuGetErrorName(CUDA_ERROR_LAUNCH_FAILED, &name) == CUDA_SUCCESS);
  CHECK(std::string(name) == "CUDA_ERROR_LAUNCH_FAILED");
  CHECK(cuGetErrorName(static_cast<CUresult>(12345), &name) == CUDA_ERROR_INVALID_VALUE);
  CHECK(name == nullptr);
}

TEST_CASE("every code has a description") {
  for (int code = 0; code < 1000; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    const bool known = std::string(cudaGetErrorName(error)) != "unrecognized error code";
    CHECK(known == (std::string(cudaGetErrorString(error)) != "unrecognized error code"));
  }
}

TEST_CASE("the last error is kept until it is read, and driver calls leave it alone") {
  cudaGetLastError();
  CHECK(cudaMalloc(nullptr, 16) == cudaErrorInvalidValue);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
  int count = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
  CUdeviceptr pointer = 0;
  CHECK(cuMemAlloc(&pointer, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree(1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cudaGetLastError() == cudaSuccess);
}
