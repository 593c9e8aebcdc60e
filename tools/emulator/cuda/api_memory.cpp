// Allocation of device, managed and host memory.
#include <algorithm>
#include <cstring>

#include "cuda/api.h"
#include "cuda/copy.h"

using namespace emu::cuda;
using emu::memory::Allocation;
using emu::memory::AllocationKind;
using emu::memory::MemoryStatus;

namespace {

constexpr uint64_t kAlignment = 512;  // what cudaMalloc was seen to give

cudaError_t to_error(MemoryStatus status) {
  switch (status) {
    case MemoryStatus::Ok:
      return cudaSuccess;
    case MemoryStatus::OutOfMemory:
      return cudaErrorMemoryAllocation;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t allocate(Runtime& runtime, void** pointer, size_t size, AllocationKind kind) {
  if (!pointer) return cudaErrorInvalidValue;
  uint64_t address = 0;
  const cudaError_t error = to_error(runtime.memory().allocate(size, kind, address, {}, kAlignment));
  if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
  return error;
}

const Allocation* find(Runtime& runtime, const void* pointer) {
  return runtime.memory().find(reinterpret_cast<uint64_t>(pointer));
}

// Frees an allocation if it is of one of the kinds that the call may free.
cudaError_t release(Runtime& runtime, void* pointer, std::initializer_list<AllocationKind> kinds) {
  if (!pointer) return cudaSuccess;
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  const Allocation* allocation = runtime.memory().find(address);
  if (!allocation || std::find(kinds.begin(), kinds.end(), allocation->kind) == kinds.end())
    return cudaErrorInvalidValue;
  if (allocation->begin != address) return cudaErrorInvalidValue;
  runtime.pools().note_free(address);
  runtime.host_flags.erase(address);
  return to_error(runtime.memory().free(address));
}

cudaError_t allocate_pitched(Runtime& runtime, void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pointer || !pitch) return cudaErrorInvalidValue;
  const size_t aligned = (width + kAlignment - 1) / kAlignment * kAlignment;
  *pitch = aligned;
  return allocate(runtime, pointer, aligned * height, AllocationKind::Device);
}

cudaError_t allocate_host(Runtime& runtime, void** pointer, size_t size, unsigned flags) {
  constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if (flags & ~kKnown) return cudaErrorInvalidValue;
  const cudaError_t error = allocate(runtime, pointer, size, AllocationKind::PinnedHost);
  if (error == cudaSuccess && *pointer)
    runtime.host_flags[reinterpret_cast<uint64_t>(*pointer)] = flags | cudaHostAllocMapped;
  return error;
}

bool is_host(const Allocation* allocation) {
  return allocation &&
         (allocation->kind == AllocationKind::PinnedHost || allocation->kind == AllocationKind::Adopted);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return device_call(
      [&](Runtime& runtime) { return allocate(runtime, pointer, size, AllocationKind::Device); });
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  return device_call([&](Runtime& runtime) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(runtime, pointer, size, AllocationKind::Managed);
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return device_call([&](Runtime& runtime) { return allocate_host(runtime, pointer, size, 0); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  return device_call([&](Runtime& runtime) { return allocate_host(runtime, pointer, size, flags); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return device_call(
      [&](Runtime& runtime) { return allocate_pitched(runtime, pointer, pitch, width, height); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  return device_call([&](Runtime& runtime) {
    if (!out) return cudaErrorInvalidValue;
    cudaPitchedPtr result{nullptr, 0, extent.width, extent.height};
    const cudaError_t error =
        allocate_pitched(runtime, &result.ptr, &result.pitch, extent.width, extent.height * extent.depth);
    if (error == cudaSuccess) *out = result;
    return error;
  });
}

cudaError_t cudaFree(void* pointer) {
  return device_call([&](Runtime& runtime) {
    return release(runtime, pointer, {AllocationKind::Device, AllocationKind::Managed});
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return device_call(
      [&](Runtime& runtime) { return release(runtime, pointer, {AllocationKind::PinnedHost}); });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned flags) {
  return device_call([&](Runtime& runtime) {
    if (!pointer || size == 0) return cudaErrorInvalidValue;
    if (find(runtime, pointer)) return cudaErrorHostMemoryAlreadyRegistered;
    const cudaError_t error = to_error(runtime.memory().adopt(pointer, size));
    if (error == cudaSuccess) runtime.host_flags[reinterpret_cast<uint64_t>(pointer)] = flags;
    return error;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return device_call([&](Runtime& runtime) {
    const Allocation* allocation = find(runtime, pointer);
    if (!allocation || allocation->kind != AllocationKind::Adopted) return cudaErrorHostMemoryNotRegistered;
    return release(runtime, pointer, {AllocationKind::Adopted});
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return device_call([&](Runtime& runtime) {
    if (!device || flags != 0 || !is_host(find(runtime, host))) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return device_call([&](Runtime& runtime) {
    const auto found = runtime.host_flags.find(reinterpret_cast<uint64_t>(host));
    if (!flags || found == runtime.host_flags.end()) return cudaErrorInvalidValue;
    *flags = found->second;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return device_call([&](Runtime& runtime) {
    if (!free_bytes || !total) return cudaErrorInvalidValue;
    *total = runtime.memory().capacity();
    *free_bytes = *total - std::min<uint64_t>(*total, runtime.memory().used());
    return cudaSuccess;
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise, cudaMemLocation) {
  return device_call([&](Runtime& runtime) {
    return runtime.memory().contains(reinterpret_cast<uint64_t>(pointer), count) ? cudaSuccess
                                                                                 : cudaErrorInvalidValue;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return device_call([&](Runtime& runtime) {
    if (!attributes) return cudaErrorInvalidValue;
    *attributes = {};
    void* mutable_pointer = const_cast<void*>(pointer);
    const Allocation* allocation = find(runtime, pointer);
    if (!allocation) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = mutable_pointer;
      return cudaSuccess;
    }
    attributes->devicePointer = mutable_pointer;
    attributes->type = is_host(allocation)                           ? cudaMemoryTypeHost
                       : allocation->kind == AllocationKind::Managed ? cudaMemoryTypeManaged
                                                                     : cudaMemoryTypeDevice;
    if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = mutable_pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return device_call([&](Runtime& runtime) {
    if (!pointer) return cudaErrorInvalidValue;
    uint64_t address = 0;
    size_t size = 0;
    const cudaError_t error = find_symbol(runtime, symbol, &address, &size);
    if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
    return error;
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return device_call([&](Runtime& runtime) {
    if (!size) return cudaErrorInvalidValue;
    uint64_t address = 0;
    return find_symbol(runtime, symbol, &address, size);
  });
}

cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t count) {
  if (dst_device != 0 || src_device != 0) return record(cudaErrorInvalidDevice);
  return cudaMemcpy(dst, src, count, cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t count,
                                cudaStream_t stream) {
  if (dst_device != 0 || src_device != 0) return record(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(dst, src, count, cudaMemcpyDeviceToDevice, stream);
}

}  // extern "C"
