#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>
#include <string>

#include "program.h"
#include "testing/catch.h"

using namespace emu::cuda;

TEST_CASE("driver functions are found by name and version") {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  const auto find = [&](const char* name, unsigned version) {
    return cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &status);
  };
  CHECK(find("cuTensorMapEncodeTiled", 12000) == cudaSuccess);
  CHECK(status == cudaDriverEntryPointSuccess);
  CHECK(function == reinterpret_cast<void*>(&cuTensorMapEncodeTiled));
  CHECK(find("cuTensorMapEncodeTiled", 11000) == cudaSuccess);
  CHECK(status == cudaDriverEntryPointVersionNotSufficent);
  CHECK(function == nullptr);
  CHECK(find("cuNoSuchThing", 12000) == cudaSuccess);
  CHECK(status == cudaDriverEntryPointSymbolNotFound);
  CHECK(function == nullptr);
  CHECK(find("cuMemAlloc", 12000) == cudaSuccess);
  CHECK(function == reinterpret_cast<void*>(&cuMemAlloc));
  CHECK(cudaGetDriverEntryPointByVersion("cuInit", &function, 12000, 99, &status) == cudaErrorInvalidValue);
}

TEST_CASE("a module loaded from text launches through the driver, parameters packed or listed") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(cuModuleLoadData(&module, test::kProgramText) == CUDA_SUCCESS);
  CHECK(cuModuleGetFunction(&function, module, "missing") == CUDA_ERROR_NOT_FOUND);
  REQUIRE(cuModuleGetFunction(&function, module, "plain") == CUDA_SUCCESS);
  char packed[64];
  std::memset(packed, 0x33, sizeof packed);
  size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == CUDA_SUCCESS);
  const LaunchRequest& request = fake_engine().launches.back();
  CHECK(request.grid.x == 2);
  CHECK(std::memcmp(request.params.data(), packed, sizeof packed) == 0);
  size = 10;
  CHECK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address = 0;
  CHECK(cuModuleGetGlobal(&address, &size, module, "variable") == CUDA_SUCCESS);
  CHECK(size == 16);
  CHECK(cuModuleGetGlobal(&address, &size, module, "missing") == CUDA_ERROR_NOT_FOUND);
  int threads = 0;
  CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) == CUDA_SUCCESS);
  CHECK(threads == 1024);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
  CHECK(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) ==
        CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("text that is no PTX and machine code are refused at loading") {
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, "int main() {}") == CUDA_ERROR_INVALID_PTX);
  CHECK(cuModuleLoadData(&module,
                         "\x7f"
                         "ELF and so on") == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(cuModuleLoad(&module, "/nonexistent.ptx") == CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_CASE("driver memory calls share the runtime's memory") {
  CUdeviceptr pointer = 0, base = 0;
  size_t size = 0;
  REQUIRE(cuMemAlloc(&pointer, 1024) == CUDA_SUCCESS);
  CHECK(cuMemsetD32(pointer, 0x01020304, 256) == CUDA_SUCCESS);
  uint32_t words[2] = {};
  CHECK(cuMemcpyDtoH(words, pointer + 1016, 8) == CUDA_SUCCESS);
  CHECK(words[1] == 0x01020304);
  CHECK(cuMemsetD32(pointer + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemGetAddressRange(&base, &size, pointer + 100) == CUDA_SUCCESS);
  CHECK(base == pointer);
  CHECK(size == 1024);
  CHECK(cudaFree(reinterpret_cast<void*>(pointer)) == cudaSuccess);
  CHECK(cuMemFree(pointer) == CUDA_ERROR_INVALID_VALUE);
}
