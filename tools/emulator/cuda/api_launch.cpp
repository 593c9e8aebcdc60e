// Kernel launches. Compiled twice: see kPerThreadDefault.
#include "cuda/api.h"
#include "cuda/launch.h"

using namespace emu::cuda;

namespace {

template <class Body>
cudaError_t launch_call(const void* function, cudaStream_t handle, Body&& body) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    Stream* stream = runtime.streams().resolve(handle, kPerThreadDefault);
    return stream ? body(runtime, kernel, *stream) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t launch_plain(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                         cudaStream_t handle, bool cooperative) {
  return launch_call(function, handle, [&](Runtime& runtime, Kernel& kernel, Stream& stream) {
    LaunchShape shape;
    shape.grid = to_dim3(grid);
    shape.block = to_dim3(block);
    shape.dynamic_shared = shared;
    shape.cooperative = cooperative;
    return launch(runtime, kernel, shape, stream, args);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                             cudaStream_t stream) {
  return launch_plain(function, grid, block, args, shared, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                        size_t shared, cudaStream_t stream) {
  return launch_plain(function, grid, block, args, shared, stream, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** args) {
  if (!config) return record(cudaErrorInvalidConfiguration);
  return launch_call(function, config->stream, [&](Runtime& runtime, Kernel& kernel, Stream& stream) {
    if (config->numAttrs && !config->attrs) return cudaErrorInvalidValue;
    LaunchShape shape;
    shape.grid = to_dim3(config->gridDim);
    shape.block = to_dim3(config->blockDim);
    shape.dynamic_shared = config->dynamicSmemBytes;
    if (const cudaError_t error = read_attributes(runtime, {config->attrs, config->numAttrs}, shape))
      return error;
    return launch(runtime, kernel, shape, stream, args);
  });
}

// What nvcc's stubs call for kernel<<<...>>>() since CUDA 13.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                                    cudaStream_t stream)
#else
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                               cudaStream_t stream)
#endif
{
  return launch_plain(kernel, grid, block, args, shared, stream, false);
}

}  // extern "C"
