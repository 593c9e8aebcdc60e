#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <span>

#include "cuda/runtime.h"

namespace emu::cuda {

// A launch as the many API functions describe it.
struct LaunchShape {
  Dim3 grid, block;
  size_t dynamic_shared = 0;
  std::optional<Dim3> cluster;  // from a launch attribute
  bool cooperative = false;
  bool programmatic_serialization = false;
  Event* completion_event = nullptr;  // launch attributes that record an event
};

// Reads launch attributes into `shape`. Unknown ones: cudaErrorInvalidValue, as an H200 answers; known ones
// that the emulator cannot honour: cudaErrorNotSupported with a message.
cudaError_t read_attributes(Runtime& runtime, std::span<const cudaLaunchAttribute> attributes,
                            LaunchShape& shape);

// Checks a launch against the device's and the kernel's limits and runs it to its end. `args` holds a pointer
// to each parameter. A fault of the kernel is not returned: it is set as the device's fault, and the next
// call returns it.
cudaError_t launch(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, Stream& stream, void** args);

// The same with parameters already packed as the .param list lays them out (CU_LAUNCH_PARAM_BUFFER_POINTER).
cudaError_t launch_packed(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, Stream& stream,
                          std::span<const std::byte> params);

inline Dim3 to_dim3(dim3 d) { return {d.x, d.y, d.z}; }

}  // namespace emu::cuda
