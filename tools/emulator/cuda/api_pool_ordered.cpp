// Stream-ordered allocation. Compiled twice: see kPerThreadDefault. Work runs at its call, so memory that is
// freed behind it in stream order is free at once.
#include "cuda/api.h"

using namespace emu::cuda;
using emu::memory::AllocationKind;
using emu::memory::MemoryStatus;

namespace {

cudaError_t allocate(Runtime& runtime, void** pointer, size_t size, MemoryPool& pool) {
  if (!pointer || size == 0) return pointer ? (*pointer = nullptr, cudaSuccess) : cudaErrorInvalidValue;
  uint64_t address = 0;
  const MemoryStatus status = runtime.memory().allocate(size, AllocationKind::Device, address, {}, 512);
  if (status != MemoryStatus::Ok) return cudaErrorMemoryAllocation;
  runtime.pools().note_allocation(address, size, pool);
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return stream_call(stream, kPerThreadDefault, [&](Runtime& runtime, Stream&) {
    return allocate(runtime, pointer, size, *runtime.pools().current());
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t handle, cudaStream_t stream) {
  return stream_call(stream, kPerThreadDefault, [&](Runtime& runtime, Stream&) {
    MemoryPool* pool = reinterpret_cast<MemoryPool*>(handle);
    if (!runtime.pools().contains(pool)) return cudaErrorInvalidValue;
    return allocate(runtime, pointer, size, *pool);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return stream_call(stream, kPerThreadDefault, [&](Runtime& runtime, Stream&) {
    if (!pointer) return cudaSuccess;
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    const emu::memory::Allocation* allocation = runtime.memory().find(address);
    if (!allocation || allocation->kind != AllocationKind::Device) return cudaErrorInvalidValue;
    runtime.pools().note_free(address);
    return runtime.memory().free(address) == MemoryStatus::Ok ? cudaSuccess : cudaErrorInvalidValue;
  });
}

}  // extern "C"
