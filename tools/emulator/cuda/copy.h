#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

#include "cuda/runtime.h"

// Copies and fills behind every cudaMemcpy and cudaMemset. They happen at the call; their modelled time is
// nominal.
namespace emu::cuda {

// A block of rows; `height` rows of `width` bytes, `pitch` bytes apart, in `depth` slices of `slice_pitch`
// bytes.
struct CopyRegion {
  void* dst = nullptr;
  const void* src = nullptr;
  size_t width = 0, height = 1, depth = 1;
  size_t dst_pitch = 0, src_pitch = 0;
  size_t dst_slice = 0, src_slice = 0;
};

// Copies after checking that each side is of the kind that `kind` names and lies in one allocation.
// `name` is the API call, for messages. `wait` is true for the calls that return only when the copy is done.
cudaError_t copy_linear(Runtime& runtime, Stream& stream, std::string_view name, void* dst, const void* src,
                        size_t bytes, cudaMemcpyKind kind, bool wait);
cudaError_t copy_region(Runtime& runtime, Stream& stream, std::string_view name, const CopyRegion& region,
                        cudaMemcpyKind kind, bool wait);

// Sets `height` rows of `width` bytes.
cudaError_t fill_region(Runtime& runtime, Stream& stream, std::string_view name, void* dst, size_t pitch,
                        int value, size_t width, size_t height, bool wait);
// Sets `count` elements of 1, 2 or 4 bytes.
cudaError_t fill_pattern(Runtime& runtime, Stream& stream, std::string_view name, void* dst, uint32_t value,
                         unsigned element_bytes, size_t count, bool wait);

// Address and size of the variable that a symbol names: the host shadow, or the address of a managed
// variable. cudaErrorInvalidSymbol if there is none.
cudaError_t find_symbol(Runtime& runtime, const void* symbol, uint64_t* address, size_t* size);

}  // namespace emu::cuda
