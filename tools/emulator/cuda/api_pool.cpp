// Memory pools.
#include <cstring>

#include "cuda/api.h"

using namespace emu::cuda;

namespace {

MemoryPool* pool_of(cudaMemPool_t handle) { return reinterpret_cast<MemoryPool*>(handle); }
cudaMemPool_t handle_of(MemoryPool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

bool is_flag(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolReuseFollowEventDependencies ||
         attribute == cudaMemPoolReuseAllowOpportunistic ||
         attribute == cudaMemPoolReuseAllowInternalDependencies;
}

uint64_t read_attribute(const MemoryPool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrUsedMemCurrent:
    case cudaMemPoolAttrReservedMemCurrent:
      return pool.used;
    case cudaMemPoolAttrUsedMemHigh:
    case cudaMemPoolAttrReservedMemHigh:
      return pool.used_high;
    default:
      break;
  }
  const auto found = pool.attributes.find(attribute);
  return found != pool.attributes.end() ? found->second : is_flag(attribute) ? 1 : 0;
}

template <class Body>
cudaError_t pool_call(cudaMemPool_t handle, Body&& body) {
  return device_call([&](Runtime& runtime) {
    MemoryPool* pool = pool_of(handle);
    return runtime.pools().contains(pool) ? body(runtime, *pool) : cudaErrorInvalidValue;
  });
}

cudaError_t give_pool(cudaMemPool_t* out, int device, MemoryPool* pool) {
  if (!out) return cudaErrorInvalidValue;
  if (device != 0) return cudaErrorInvalidDevice;
  *out = handle_of(pool);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return device_call(
      [&](Runtime& runtime) { return give_pool(pool, device, runtime.pools().default_pool()); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return device_call([&](Runtime& runtime) { return give_pool(pool, device, runtime.pools().current()); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  return pool_call(handle, [&](Runtime& runtime, MemoryPool& pool) {
    if (device != 0) return cudaErrorInvalidDevice;
    runtime.pools().set_current(&pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return device_call([&](Runtime& runtime) {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice) {
      return not_supported("cudaMemPoolCreate", "only pools in device memory are emulated");
    }
    if (properties->handleTypes != cudaMemHandleTypeNone) {
      return not_supported("cudaMemPoolCreate", "pools shared between processes are not emulated");
    }
    *pool = handle_of(runtime.pools().create());
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return device_call([&](Runtime& runtime) {
    return runtime.pools().destroy(pool_of(handle)) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
  return pool_call(handle, [](Runtime&, MemoryPool&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return pool_call(handle, [&](Runtime&, MemoryPool& pool) {
    if (!value) return cudaErrorInvalidValue;
    if (attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh) {
      pool.used_high = pool.used;
      return cudaSuccess;
    }
    uint64_t number = 0;
    std::memcpy(&number, value, is_flag(attribute) ? sizeof(int) : sizeof(uint64_t));
    pool.attributes[attribute] = number;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return pool_call(handle, [&](Runtime&, MemoryPool& pool) {
    if (!value) return cudaErrorInvalidValue;
    const uint64_t number = read_attribute(pool, attribute);
    std::memcpy(value, &number, is_flag(attribute) ? sizeof(int) : sizeof(uint64_t));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc*, size_t) {
  return pool_call(handle, [](Runtime&, MemoryPool&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation*) {
  return pool_call(handle, [&](Runtime&, MemoryPool&) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}

}  // extern "C"
