// Driver API: streams, events, tensor maps.
#include <fmt/format.h>

#include "cuda/driver.h"
#include "units/tensor_map.h"

using namespace emu::cuda;

namespace {

CUresult answer(const char* name, const emu::units::EncodeResult& result) {
  if (result.code != 0) report(std::string(name) + ": " + result.text);
  return static_cast<CUresult>(result.code);
}

// Packed types and swizzles of 32- and 64-byte atoms came with compute capability 10.0; an H200 refuses them.
bool is_too_new(uint32_t architecture, CUtensorMapDataType type, CUtensorMapSwizzle swizzle) {
  return architecture < 100 &&
         (type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || swizzle > CU_TENSOR_MAP_SWIZZLE_128B);
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return driver_call([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return driver_call([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return driver_call([&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return driver_call([&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return driver_call([&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return driver_call([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return driver_call([&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return driver_call([&] { return cudaStreamGetFlags(stream, flags); });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return driver_call([&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return driver_call([&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return driver_call([&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return driver_call([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return driver_call([&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return driver_call([&] { return cudaEventSynchronize(event); });
}
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  return driver_call([&] { return cudaEventElapsedTime(ms, start, end); });
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  if (is_too_new(Runtime::instance().machine().architecture, type, swizzle)) {
    report(fmt::format("cuTensorMapEncodeTiled: data type {} with swizzle {} needs compute capability 10.0",
                       static_cast<int>(type), static_cast<int>(swizzle)));
    return CUDA_ERROR_INVALID_VALUE;
  }
  return answer("cuTensorMapEncodeTiled",
                emu::units::encode_tiled(map, type, rank, address, dims, strides, box, element_strides,
                                         interleave, swizzle, promotion, fill));
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* dims, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill) {
  if (is_too_new(Runtime::instance().machine().architecture, type, swizzle)) {
    report(fmt::format("cuTensorMapEncodeIm2col: data type {} with swizzle {} needs compute capability 10.0",
                       static_cast<int>(type), static_cast<int>(swizzle)));
    return CUDA_ERROR_INVALID_VALUE;
  }
  return answer("cuTensorMapEncodeIm2col",
                emu::units::encode_im2col(map, type, rank, address, dims, strides, lower, upper, channels,
                                          pixels, element_strides, interleave, swizzle, promotion, fill));
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return answer("cuTensorMapReplaceAddress", emu::units::replace_address(map, address));
}

}  // extern "C"
