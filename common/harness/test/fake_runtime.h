// Stands in for libcudart in tests of run_chapter: device memory is host memory, a launch is a host function.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "cuda/emu_query.h"

namespace fake_runtime {

// What the tests may choose; reset() restores a working emulated B200.
struct State {
  bool device_present = true;
  std::string name = "NVIDIA B200 (emulated)";
  int major = 10;
  int minor = 0;
  float elapsed_ms = 0.25f;
  cudaError_t launch_error = cudaSuccess;  // returned by the next cudaGetLastError
  cudaError_t kernel_error = cudaSuccess;  // returned by cudaDeviceSynchronize
  bool emulator = true;                    // false: no emuGetLastLaunch, as with NVIDIA's library
  EmuLaunchInfo launch{.launches = 1,
                       .modelled_ns = 0,
                       .time_modelled = 1,
                       .sampled = 0,
                       .ctas_run = 0,
                       .ctas_total = 0,
                       .warp_instructions = 0};
  int live_allocations = 0;
  int live_events = 0;
};

extern State state;
void reset();

}  // namespace fake_runtime
