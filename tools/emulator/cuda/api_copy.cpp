// Copies, fills and symbols. Compiled twice: see kPerThreadDefault.
#include "cuda/api.h"
#include "cuda/copy.h"

using namespace emu::cuda;

namespace {

// The synchronous calls work on the default stream and return when it is done.
template <class Body>
cudaError_t default_stream_call(Body&& body) {
  return stream_call(nullptr, kPerThreadDefault, std::forward<Body>(body));
}

cudaError_t copy_2d(cudaStream_t handle, const char* name, void* dst, size_t dpitch, const void* src,
                    size_t spitch, size_t width, size_t height, cudaMemcpyKind kind, bool wait) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    if (height > 1 && width != 0 && (width > dpitch || width > spitch)) return cudaErrorInvalidPitchValue;
    CopyRegion region;
    region.dst = dst;
    region.src = src;
    region.width = width;
    region.height = height;
    region.dst_pitch = dpitch;
    region.src_pitch = spitch;
    return copy_region(runtime, stream, name, region, kind, wait);
  });
}

const void* at(const cudaPitchedPtr& pointer, const cudaPos& pos) {
  return static_cast<const char*>(pointer.ptr) + pos.z * pointer.pitch * pointer.ysize +
         pos.y * pointer.pitch + pos.x;
}

cudaError_t copy_3d(cudaStream_t handle, const char* name, const cudaMemcpy3DParms* p, bool wait) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    if (!p) return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray)
      return not_supported(name, "CUDA arrays are not emulated; use linear memory");
    CopyRegion region;
    region.dst = const_cast<void*>(at(p->dstPtr, p->dstPos));
    region.src = at(p->srcPtr, p->srcPos);
    region.width = p->extent.width;
    region.height = p->extent.height;
    region.depth = p->extent.depth;
    region.dst_pitch = p->dstPtr.pitch;
    region.src_pitch = p->srcPtr.pitch;
    region.dst_slice = p->dstPtr.pitch * p->dstPtr.ysize;
    region.src_slice = p->srcPtr.pitch * p->srcPtr.ysize;
    return copy_region(runtime, stream, name, region, p->kind, wait);
  });
}

cudaError_t copy_to_symbol(cudaStream_t handle, const char* name, const void* symbol, const void* src,
                           size_t count, size_t offset, cudaMemcpyKind kind, bool wait) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    uint64_t address = 0;
    size_t size = 0;
    if (const cudaError_t error = find_symbol(runtime, symbol, &address, &size)) return error;
    if (offset > size || count > size - offset) return cudaErrorInvalidValue;
    return copy_linear(runtime, stream, name, reinterpret_cast<void*>(address + offset), src, count, kind,
                       wait);
  });
}

cudaError_t copy_from_symbol(cudaStream_t handle, const char* name, void* dst, const void* symbol,
                             size_t count, size_t offset, cudaMemcpyKind kind, bool wait) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    uint64_t address = 0;
    size_t size = 0;
    if (const cudaError_t error = find_symbol(runtime, symbol, &address, &size)) return error;
    if (offset > size || count > size - offset) return cudaErrorInvalidValue;
    return copy_linear(runtime, stream, name, dst, reinterpret_cast<const void*>(address + offset), count,
                       kind, wait);
  });
}

cudaError_t fill_3d(cudaStream_t handle, const char* name, cudaPitchedPtr pointer, int value,
                    cudaExtent extent, bool wait) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    for (size_t z = 0; z < extent.depth; ++z) {
      void* slice = static_cast<char*>(pointer.ptr) + z * pointer.pitch * pointer.ysize;
      const cudaError_t error =
          fill_region(runtime, stream, name, slice, pointer.pitch, value, extent.width, extent.height, wait);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return default_stream_call([&](Runtime& runtime, Stream& stream) {
    return copy_linear(runtime, stream, "cudaMemcpy", dst, src, count, kind, true);
  });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t handle) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    return copy_linear(runtime, stream, "cudaMemcpyAsync", dst, src, count, kind, false);
  });
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return copy_2d(nullptr, "cudaMemcpy2D", dst, dpitch, src, spitch, width, height, kind, true);
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_2d(stream, "cudaMemcpy2DAsync", dst, dpitch, src, spitch, width, height, kind, false);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return copy_3d(nullptr, "cudaMemcpy3D", p, true); }

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return copy_3d(stream, "cudaMemcpy3DAsync", p, false);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  return copy_to_symbol(nullptr, "cudaMemcpyToSymbol", symbol, src, count, offset, kind, true);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to_symbol(stream, "cudaMemcpyToSymbolAsync", symbol, src, count, offset, kind, false);
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_from_symbol(nullptr, "cudaMemcpyFromSymbol", dst, symbol, count, offset, kind, true);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_from_symbol(stream, "cudaMemcpyFromSymbolAsync", dst, symbol, count, offset, kind, false);
}

cudaError_t cudaMemset(void* dst, int value, size_t count) {
  return default_stream_call([&](Runtime& runtime, Stream& stream) {
    return fill_region(runtime, stream, "cudaMemset", dst, count, value, count, 1, false);
  });
}

cudaError_t cudaMemsetAsync(void* dst, int value, size_t count, cudaStream_t handle) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    return fill_region(runtime, stream, "cudaMemsetAsync", dst, count, value, count, 1, false);
  });
}

cudaError_t cudaMemset2D(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return default_stream_call([&](Runtime& runtime, Stream& stream) {
    return fill_region(runtime, stream, "cudaMemset2D", dst, pitch, value, width, height, false);
  });
}

cudaError_t cudaMemset2DAsync(void* dst, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t handle) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream& stream) {
    return fill_region(runtime, stream, "cudaMemset2DAsync", dst, pitch, value, width, height, false);
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return fill_3d(nullptr, "cudaMemset3D", pointer, value, extent, false);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
  return fill_3d(stream, "cudaMemset3DAsync", pointer, value, extent, false);
}

// Managed memory is host memory here: it is everywhere at once, so there is nothing to move.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation, unsigned,
                                 cudaStream_t handle) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream&) {
    return runtime.memory().contains(reinterpret_cast<uint64_t>(pointer), count) ? cudaSuccess
                                                                                 : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, size_t, unsigned) {
  return stream_call(handle, kPerThreadDefault, [&](Runtime& runtime, Stream&) {
    return runtime.memory().find(reinterpret_cast<uint64_t>(pointer)) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

}  // extern "C"
