#include <cstring>
#include <vector>

#include "program.h"
#include "testing/catch.h"

using emu::cuda::test::Program;

// Expected codes were recorded on an H200 (test/hardware/api_probe_h200.txt).

TEST_CASE("allocation and its misuse") {
  void *a = nullptr, *b = nullptr, *pinned = nullptr;
  char host[256];
  CHECK(cudaMalloc(&a, 0) == cudaSuccess);
  CHECK(a == nullptr);
  CHECK(cudaMalloc(&a, size_t{1} << 50) == cudaErrorMemoryAllocation);
  REQUIRE(cudaMalloc(&a, 1000) == cudaSuccess);
  CHECK(reinterpret_cast<size_t>(a) % 512 == 0);
  REQUIRE(cudaMalloc(&b, 4096) == cudaSuccess);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaFree(static_cast<char*>(a) + 16) == cudaErrorInvalidValue);
  CHECK(cudaFree(host) == cudaErrorInvalidValue);
  CHECK(cudaFree(a) == cudaSuccess);
  CHECK(cudaFree(a) == cudaErrorInvalidValue);
  REQUIRE(cudaMallocHost(&pinned, 4096) == cudaSuccess);
  CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFreeHost(pinned) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(nullptr) == cudaSuccess);
  CHECK(cudaFreeHost(b) == cudaErrorInvalidValue);
  CHECK(cudaHostAlloc(&pinned, 64, 0x100) == cudaErrorInvalidValue);
  CHECK(cudaMallocManaged(&pinned, 64, 0) == cudaErrorInvalidValue);
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&a, &pitch, 1000, 4) == cudaSuccess);
  CHECK(pitch == 1024);
  CHECK(cudaFree(a) == cudaSuccess);
  CHECK(cudaFree(b) == cudaSuccess);
}

TEST_CASE("copies move bytes and check both ends") {
  void* device = nullptr;
  REQUIRE(cudaMalloc(&device, 4096) == cudaSuccess);
  char* bytes = static_cast<char*>(device);
  std::vector<char> host(8192, 'h'), back(4096, 0);
  CHECK(cudaMemcpy(device, host.data(), 4096, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemset(device, 'm', 16) == cudaSuccess);
  CHECK(cudaMemcpy(back.data(), device, 4096, cudaMemcpyDefault) == cudaSuccess);
  CHECK(back[15] == 'm');
  CHECK(back[16] == 'h');

  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(nullptr, host.data(), 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host.data(), 16, static_cast<cudaMemcpyKind>(7)) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpy(host.data(), back.data(), 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host.data(), back.data(), 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host.data(), 16, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host.data(), back.data(), 16, cudaMemcpyHostToHost) == cudaSuccess);
  CHECK(cudaMemcpy(host.data(), device, 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host.data(), 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host.data(), 8192, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemset(host.data(), 1, 16) == cudaErrorInvalidValue);
  CHECK(cudaMemset(nullptr, 1, 0) == cudaSuccess);
  CHECK(cudaMemset(device, 1, 4097) == cudaErrorInvalidValue);

  CHECK(cudaMemcpy2D(device, 64, host.data(), 32, 32, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy2D(device, 16, host.data(), 32, 32, 4, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidPitchValue);
  CHECK(cudaMemset2D(device, 16, 1, 32, 4) == cudaErrorInvalidValue);
  CHECK(cudaMemset2D(device, 64, 'z', 8, 2) == cudaSuccess);
  CHECK(bytes[64 + 7] == 'z');
  CHECK(bytes[64 + 8] != 'z');
  CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("pointer attributes tell device, pinned, managed and foreign memory apart") {
  void *device = nullptr, *pinned = nullptr, *managed = nullptr;
  char host = 0;
  cudaPointerAttributes p{};
  REQUIRE(cudaMalloc(&device, 64) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 64) == cudaSuccess);
  CHECK(cudaPointerGetAttributes(&p, static_cast<char*>(device) + 10) == cudaSuccess);
  CHECK(p.type == cudaMemoryTypeDevice);
  CHECK(p.devicePointer == static_cast<char*>(device) + 10);
  CHECK(p.hostPointer == nullptr);
  CHECK(cudaPointerGetAttributes(&p, pinned) == cudaSuccess);
  CHECK(p.type == cudaMemoryTypeHost);
  CHECK(cudaPointerGetAttributes(&p, managed) == cudaSuccess);
  CHECK(p.type == cudaMemoryTypeManaged);
  CHECK(p.hostPointer == managed);
  CHECK(cudaPointerGetAttributes(&p, &host) == cudaSuccess);
  CHECK(p.type == cudaMemoryTypeUnregistered);
  CHECK(p.device == cudaInvalidDeviceId);
  cudaFree(device);
  cudaFreeHost(pinned);
  cudaFree(managed);
}

TEST_CASE("host memory can be registered once") {
  alignas(4096) static char host[8192];
  void* device = nullptr;
  CHECK(cudaHostGetDevicePointer(&device, host, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(host, sizeof host, 0) == cudaSuccess);
  CHECK(cudaHostRegister(host, sizeof host, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostGetDevicePointer(&device, host, 0) == cudaSuccess);
  CHECK(device == host);
  CHECK(cudaFreeHost(host) == cudaErrorInvalidValue);
  CHECK(cudaHostUnregister(host) == cudaSuccess);
  CHECK(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
}

TEST_CASE("stream-ordered allocation") {
  void* a = nullptr;
  CHECK(cudaMallocAsync(&a, 1000, nullptr) == cudaSuccess);
  cudaMemPool_t pool = nullptr;
  uint64_t used = 0;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
  CHECK(used == 1000);
  CHECK(cudaFreeAsync(a, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(a, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(nullptr, nullptr) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
  CHECK(used == 0);
}

TEST_CASE("symbols name variables of the module") {
  Program program;
  void* address = nullptr;
  size_t size = 0;
  int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {};
  CHECK(cudaGetSymbolAddress(&address, program.variable) == cudaSuccess);
  CHECK(cudaGetSymbolSize(&size, program.variable) == cudaSuccess);
  CHECK(size == 16);
  CHECK(cudaGetSymbolAddress(&address, static_cast<const void*>(in)) == cudaErrorInvalidSymbol);
  CHECK(cudaGetSymbolAddress(&address, static_cast<const void*>(nullptr)) == cudaErrorInvalidSymbol);
  CHECK(cudaMemcpyToSymbol(program.variable, in, 16, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpyFromSymbol(out, program.variable, 8, 8, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(out[0] == 3);
  CHECK(out[1] == 4);
  CHECK(cudaMemcpyToSymbol(program.variable, in, 17, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(program.variable, in, 8, 12, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(program.variable, in, 16, 0, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpyFromSymbol(out, program.variable, 16, 0, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpyToSymbol(program.constants, in, 32, 0, cudaMemcpyHostToDevice) == cudaSuccess);
}

TEST_CASE("a managed variable gets its address when the module is opened") {
  Program program;
  CHECK(program.managed == nullptr);
  CHECK(__cudaInitModule(program.handle) != 0);
  REQUIRE(program.managed != nullptr);
  *static_cast<int*>(program.managed) = 7;
  cudaPointerAttributes p{};
  CHECK(cudaPointerGetAttributes(&p, program.managed) == cudaSuccess);
  CHECK(p.type == cudaMemoryTypeManaged);
}
