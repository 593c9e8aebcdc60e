// Driver API: memory.
#include <cstring>

#include "cuda/copy.h"
#include "cuda/driver.h"

using namespace emu::cuda;

namespace {

CUresult copy(CUdeviceptr dst, CUdeviceptr src, size_t bytes, cudaMemcpyKind kind) {
  return driver_call([&] { return cudaMemcpy(to_pointer(dst), to_pointer(src), bytes, kind); });
}

CUresult copy_async(CUdeviceptr dst, CUdeviceptr src, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  return driver_call([&] { return cudaMemcpyAsync(to_pointer(dst), to_pointer(src), bytes, kind, stream); });
}

CUdeviceptr address(const void* host) { return reinterpret_cast<CUdeviceptr>(host); }

CUresult fill(const char* name, CUdeviceptr dst, uint32_t value, unsigned element_bytes, size_t count,
              CUstream handle) {
  return driver_call([&] {
    return stream_call(handle, false, [&](Runtime& runtime, Stream& stream) {
      return fill_pattern(runtime, stream, name, to_pointer(dst), value, element_bytes, count, false);
    });
  });
}

CUresult copy_2d(const CUDA_MEMCPY2D* c, CUstream stream) {
  if (!c) return CUDA_ERROR_INVALID_VALUE;
  if (c->srcMemoryType == CU_MEMORYTYPE_ARRAY || c->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    not_supported("cuMemcpy2D", "CUDA arrays are not emulated; use linear memory");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const char* src = c->srcMemoryType == CU_MEMORYTYPE_HOST
                        ? static_cast<const char*>(c->srcHost)
                        : static_cast<const char*>(to_pointer(c->srcDevice));
  char* dst =
      static_cast<char*>(c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : to_pointer(c->dstDevice));
  return driver_call([&] {
    return cudaMemcpy2DAsync(dst + c->dstY * c->dstPitch + c->dstXInBytes, c->dstPitch,
                             src + c->srcY * c->srcPitch + c->srcXInBytes, c->srcPitch, c->WidthInBytes,
                             c->Height, cudaMemcpyDefault, stream);
  });
}

CUresult pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  cudaPointerAttributes attributes{};
  const CUresult error =
      driver_call([&] { return cudaPointerGetAttributes(&attributes, to_pointer(pointer)); });
  if (error != CUDA_SUCCESS) return error;
  if (attributes.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
  const auto give = [data](const auto& value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  const emu::memory::Allocation* allocation = Runtime::instance().memory().find(pointer);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(static_cast<unsigned>(attributes.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST
                                                                              : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(attributes.devicePointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return attributes.hostPointer ? give(attributes.hostPointer) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(static_cast<unsigned>(attributes.type == cudaMemoryTypeManaged));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(allocation->begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give(static_cast<size_t>(allocation->bytes));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return give(static_cast<unsigned long long>(allocation->serial));
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(1);
    default:
      not_supported("cuPointerGetAttribute", "this attribute is not emulated: " + std::to_string(attribute));
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  return driver_call([&] { return cudaMemGetInfo(free_bytes, total); });
}

// Unlike cudaMalloc, the driver refuses a size of zero.
CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) {
  if (!out || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return driver_call([&] { return cudaMalloc(reinterpret_cast<void**>(out), bytes); });
}

CUresult cuMemAllocPitch(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned) {
  return driver_call([&] { return cudaMallocPitch(reinterpret_cast<void**>(out), pitch, width, height); });
}

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  if (!out || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return driver_call([&] { return cudaMallocManaged(reinterpret_cast<void**>(out), bytes, flags); });
}

CUresult cuMemFree(CUdeviceptr pointer) {
  return driver_call([&] { return cudaFree(to_pointer(pointer)); });
}

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return driver_call([&] { return cudaMallocAsync(reinterpret_cast<void**>(out), bytes, stream); });
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return driver_call([&] { return cudaFreeAsync(to_pointer(pointer), stream); });
}

CUresult cuMemAllocHost(void** out, size_t bytes) {
  return driver_call([&] { return cudaMallocHost(out, bytes); });
}

CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return driver_call([&] { return cudaHostAlloc(out, bytes, flags); });
}

CUresult cuMemFreeHost(void* pointer) {
  return driver_call([&] { return cudaFreeHost(pointer); });
}

CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return driver_call([&] { return cudaHostRegister(pointer, bytes, flags); });
}

CUresult cuMemHostUnregister(void* pointer) {
  return driver_call([&] { return cudaHostUnregister(pointer); });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* out, void* host, unsigned flags) {
  return driver_call([&] { return cudaHostGetDevicePointer(reinterpret_cast<void**>(out), host, flags); });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
  return driver_call([&] { return cudaHostGetFlags(flags, host); });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr pointer) {
  return driver_call([&] {
    return device_call([&](Runtime& runtime) {
      const emu::memory::Allocation* allocation = runtime.memory().find(pointer);
      if (!allocation) return cudaErrorSymbolNotFound;
      if (base) *base = allocation->begin;
      if (size) *size = allocation->bytes;
      return cudaSuccess;
    });
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return data ? pointer_attribute(data, attribute, pointer) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr pointer) {
  if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const CUresult error = pointer_attribute(data[i], attributes[i], pointer);
    // Memory that CUDA does not know gets zeros here instead of an error.
    if (error == CUDA_ERROR_INVALID_VALUE && data[i])
      std::memset(data[i], 0, sizeof(int));
    else if (error != CUDA_SUCCESS)
      return error;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy(dst, src, bytes, cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy_async(dst, src, bytes, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr dst, const void* src, size_t bytes) {
  return copy(dst, address(src), bytes, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyDtoH(void* dst, CUdeviceptr src, size_t bytes) {
  return copy(address(dst), src, bytes, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy(dst, src, bytes, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream) {
  return copy_async(dst, address(src), bytes, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoHAsync(void* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy_async(address(dst), src, bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy_async(dst, src, bytes, cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* c) { return copy_2d(c, nullptr); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* c) { return copy_2d(c, nullptr); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* c, CUstream stream) { return copy_2d(c, stream); }

CUresult cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t count) {
  return fill("cuMemsetD8", dst, value, 1, count, nullptr);
}
CUresult cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t count) {
  return fill("cuMemsetD16", dst, value, 2, count, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr dst, unsigned value, size_t count) {
  return fill("cuMemsetD32", dst, value, 4, count, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", dst, value, 1, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", dst, value, 2, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", dst, value, 4, count, stream);
}

}  // extern "C"
