// Stands in for libcudart in tests of run_chapter: device memory is host memory, a launch is a host function.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fake_runtime {

// What the tests may choose; reset() restores a working emulated B200.
struct State {
  bool device_present = true;
  std::string name = "NVIDIA B200 (emulated)";
  int major = 10;
  int minor = 0;
  float elapsed_ms = 0.25f;
  cudaError_t launch_error = cudaSuccess;       // returned by the next cudaGetLastError
  cudaError_t kernel_error = cudaSuccess;       // returned by cudaDeviceSynchronize
  std::optional<std::vector<int64_t>> sampled;  // CTAs that ran; nothing: all
  int live_allocations = 0;
  int live_events = 0;
};

extern State state;
void reset();

}  // namespace fake_runtime
