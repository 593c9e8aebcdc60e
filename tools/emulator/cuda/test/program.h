#pragma once

#include <cuda_runtime.h>

#include <string>

#include "container_builder.h"
#include "fake_engine.h"

// The calls that nvcc's generated code makes around a program, spelled out.
extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int limit,
                            uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int ext, size_t size,
                       int constant, int);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name, int ext,
                              size_t size, int, int);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                               cudaStream_t stream);
}

namespace emu::cuda::test {

inline const char* const kProgramText = R"(
.version 9.0
.target sm_100a
.address_size 64
.global .align 4 .b8 variable[16];
.const .align 4 .b8 constants[32];
.global .attribute(.managed) .align 4 .u32 managed;
.visible .entry plain(.param .u64 plain_0, .param .u32 plain_1, .param .align 16 .b8 plain_2[48])
{ ret; }
.visible .entry bounded(.param .u64 bounded_0)
.maxntid 128
{ ret; }
.entry with_static()
{
.shared .align 4 .b8 s[1024];
ret; }
.visible .entry pair()
.explicitcluster
.reqnctapercluster 2
{ ret; }
)";

// A registered program. The addresses of the members stand for host stubs and shadows.
struct Program {
  Program() : Program(std::string(kProgramText)) {}
  explicit Program(const std::string& text) : binary({EntrySpec{1, 100, 'a', text, Packing::kZstd, 0x10}}) {
    handle = __cudaRegisterFatBinary(&binary.wrapper);
    for (auto& [stub, name] : {std::pair{&plain, "plain"},
                               {&bounded, "bounded"},
                               {&with_static, "with_static"},
                               {&pair, "pair"}}) {
      __cudaRegisterFunction(handle, stub, stub, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    }
    __cudaRegisterVar(handle, variable, variable, "variable", 0, 16, 0, 0);
    __cudaRegisterVar(handle, constants, constants, "constants", 0, 32, 1, 0);
    __cudaRegisterManagedVar(handle, &managed, nullptr, "managed", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  ~Program() { __cudaUnregisterFatBinary(handle); }

  FatBinary binary;
  void** handle = nullptr;
  char plain = 0, bounded = 0, with_static = 0, pair = 0;
  char variable[16] = {}, constants[32] = {};
  void* managed = nullptr;
};

// What kernel<<<grid, block, shared, stream>>>(args...) does since CUDA 13.
inline cudaError_t launch(const void* stub, dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                          void** args) {
  __cudaPushCallConfiguration(grid, block, shared, stream);
  cudaKernel_t kernel = nullptr;
  __cudaGetKernel(&kernel, stub);
  __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
  return __cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

}  // namespace emu::cuda::test
