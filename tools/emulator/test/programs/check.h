// What the programs here share: a table of named cases, and a verdict per case.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
#define REQUIRE_CUDA(call) require((call), #call)

template <typename T>
T* device_copy(const std::vector<T>& values) {
  T* device = nullptr;
  REQUIRE_CUDA(cudaMalloc(&device, values.size() * sizeof(T)));
  REQUIRE_CUDA(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <typename T>
T* device_zeros(size_t count) {
  return device_copy(std::vector<T>(count));
}

template <typename T>
std::vector<T> host_copy(const T* device, size_t count) {
  std::vector<T> values(count);
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_CUDA(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// A case returns how many of its values are wrong.
struct Case {
  const char* name;
  int (*run)();
};

// Runs the case that the argument names, or all; 0 when nothing is wrong.
template <size_t N>
int run_cases(const Case (&cases)[N], int argc, char** argv) {
  int failed = 0, ran = 0;
  for (const Case& c : cases) {
    if (argc > 1 && std::strcmp(argv[1], c.name)) continue;
    ++ran;
    const int wrong = c.run();
    std::printf("%s: %s (%d wrong)\n", c.name, wrong ? "FAILED" : "right", wrong);
    std::fflush(stdout);
    failed += wrong != 0;
  }
  if (!ran) std::printf("no case of that name\n");
  return failed || !ran;
}
