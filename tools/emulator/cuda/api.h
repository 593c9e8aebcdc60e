#pragma once

#include <cuda_runtime_api.h>

#include <new>
#include <string>
#include <utility>

#include "cuda/fat_binary.h"
#include "cuda/runtime.h"

// What every API function shares: the lock, a sticky fault, exceptions turned into error codes, the last
// error.
namespace emu::cuda {

// True in the copies of these files that define the _ptsz and _ptds variants (per-thread default streams).
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static constexpr bool kPerThreadDefault = true;
#else
static constexpr bool kPerThreadDefault = false;
#endif

// The calling thread's last error, as cudaGetLastError returns it.
cudaError_t& last_error();

// Stores the error for cudaGetLastError and passes it on.
cudaError_t record(cudaError_t error);

// The code for the exception in flight, after printing its message. Only inside a catch block.
cudaError_t error_of_current_exception();

// Prints "name: reason" and returns cudaErrorNotSupported. For calls and arguments that are not emulated.
cudaError_t not_supported(std::string_view name, std::string_view reason);

// Runs `body(Runtime&)` under the lock. For calls that work although the device has faulted.
template <class Body>
cudaError_t host_call(Body&& body) {
  Runtime& runtime = Runtime::instance();
  const std::lock_guard lock(runtime.mutex());
  try {
    return record(body(runtime));
  } catch (...) {
    return record(error_of_current_exception());
  }
}

// The same for calls that touch the device: after a fault they return it.
template <class Body>
cudaError_t device_call(Body&& body) {
  return host_call(
      [&](Runtime& runtime) { return runtime.fault() != cudaSuccess ? runtime.fault() : body(runtime); });
}

// `body(Runtime&, Stream&)` on the stream a handle names; cudaErrorInvalidResourceHandle for one that does
// not exist.
template <class Body>
cudaError_t stream_call(cudaStream_t handle, bool per_thread_default, Body&& body) {
  return device_call([&](Runtime& runtime) {
    Stream* stream = runtime.streams().resolve(handle, per_thread_default);
    return stream ? body(runtime, *stream) : cudaErrorInvalidResourceHandle;
  });
}

// `body(Runtime&, Kernel&)` on a kernel named by its host stub or handle, with the codes an H200 gives for
// others.
template <class Body>
cudaError_t kernel_call(const void* function, Body&& body) {
  return device_call([&](Runtime& runtime) {
    if (!function) return cudaErrorInvalidDeviceFunction;
    Kernel* kernel = runtime.registry().find_kernel(function);
    return kernel ? body(runtime, *kernel) : cudaErrorInvalidResourceHandle;
  });
}

}  // namespace emu::cuda
