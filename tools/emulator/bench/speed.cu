// Benchmark of the emulator: an ALU-bound kernel and one shaped like a chapter's softmax. Prints host seconds and warp
// instructions per second, as the emulator counts them (emuGetLastLaunch).
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cuda/emu_query.h"

__global__ void alu(float* out, int iterations) {
  float a = threadIdx.x, b = 1.0001f, c = 0.5f;
  uint32_t x = threadIdx.x * 2654435761u, y = blockIdx.x;
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      a = a * b + c;
      c = c * 0.999f + a;
      x = (x ^ y) + 0x9E3779B9u;
      y = (y << 3) | (x >> 29);
      b = fmaxf(b, c * 1e-9f);
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + x + y;
}

__global__ void exponentials(float* out, int iterations) {
  float sum = 0, m = 0.25f;
  float s[16];
  for (int k = 0; k < 16; ++k) s[k] = threadIdx.x * 0.01f + k;
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      m = fmaxf(m, s[k] * 1e-3f);
      const float p = __expf(s[k] - m);
      sum += p;
      s[k] = s[k] * 0.5f + 1.0f;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <typename K>
void measure(const char* name, K kernel, int blocks, int threads, int iterations) {
  float* out = nullptr;
  cudaMalloc(&out, sizeof(float) * blocks * threads);
  auto query = reinterpret_cast<int (*)(EmuLaunchInfo*)>(dlsym(RTLD_DEFAULT, "emuGetLastLaunch"));
  double best = 1e9;
  EmuLaunchInfo info{};
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    kernel<<<blocks, threads>>>(out, iterations);
    cudaDeviceSynchronize();
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (s < best) best = s;
  }
  if (query) query(&info);
  std::printf("%-14s %6d CTAs x %4d threads  %8.4f s  %7.1f M warp instructions  %7.1f M/s\n", name, blocks, threads, best,
              info.warp_instructions / 1e6, info.warp_instructions / best / 1e6);
  cudaFree(out);
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? std::atoi(argv[1]) : 2000;
  measure("alu 1 CTA", alu, 1, 256, iterations);
  measure("alu 8 CTAs", alu, 8, 256, iterations);
  measure("exp 1 CTA", exponentials, 1, 256, iterations);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
