// One mistake at a time; the emulator must name it. Usage: misuse CASE.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "barrier.cuh"

__global__ void unsupported() {
  if (threadIdx.x == 0) {
    uint32_t address = 0;
    uint64_t descriptor = 0;
    asm volatile("tcgen05.mma.cta_group::1.kind::f16.ashift [%0], [%0], %1, %0, 0;" ::"r"(address),
                 "l"(descriptor)
                 : "memory");
  }
}

__global__ void hang() {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    mbarrier::init(&barrier, 2);
    mbarrier::fence_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) mbarrier::arrive(&barrier);
  mbarrier::wait(&barrier, 0);
}

__global__ void barrier_hang() {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void beyond(int* data, int index) { data[index] = 1; }
__global__ void misaligned(char* data) { *reinterpret_cast<int*>(data + 2) = 1; }
__global__ void shared_beyond(int index, int* out) {
  extern __shared__ int memory[];
  memory[index] = index;
  out[0] = memory[index];
}

__global__ void asserts(int value) {
  if (value != 42) __trap();
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int* data = nullptr;
  cudaMalloc(&data, 1000);
  cudaMemset(data, 0, 1000);
  if (!std::strcmp(what, "unsupported")) unsupported<<<1, 32>>>();
  if (!std::strcmp(what, "hang")) hang<<<1, 64>>>();
  if (!std::strcmp(what, "barrier_hang")) barrier_hang<<<1, 64>>>();
  if (!std::strcmp(what, "spin")) spin<<<1, 32>>>(data);
  if (!std::strcmp(what, "beyond")) beyond<<<1, 1>>>(data, 250);
  if (!std::strcmp(what, "freed")) {
    cudaFree(data);
    beyond<<<1, 1>>>(data, 0);
  }
  if (!std::strcmp(what, "misaligned")) misaligned<<<1, 1>>>(reinterpret_cast<char*>(data));
  if (!std::strcmp(what, "shared_beyond")) shared_beyond<<<1, 1, 64>>>(16, data);
  if (!std::strcmp(what, "trap")) asserts<<<1, 32>>>(7);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
