// Host side of TMA: encodes tensor maps through the driver's entry point, so that nothing links against
// libcuda.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "cuda_check.h"

// The driver's cuTensorMapEncodeTiled in the version of CUDA 12.0, which is still current in 13.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check_cuda(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
      "looking up cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess || function == nullptr) {
    throw std::runtime_error("this driver has no cuTensorMapEncodeTiled of CUDA 12.0; install a newer one");
  }
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

// Describes a dense row-major BF16 matrix [rows, columns] at `base` (16-byte aligned, 128 with a swizzle),
// read in boxes of box_rows x box_columns elements. A box's columns may span at most 128 bytes under a
// 128-byte swizzle.
inline CUtensorMap encode_tensor_map(const void* base, uint64_t rows, uint64_t columns, uint32_t box_rows,
                                     uint32_t box_columns, CUtensorMapSwizzle swizzle) {
  // Innermost dimension first; the innermost stride is implied by the element size.
  const cuuint64_t sizes[2] = {columns, rows};
  const cuuint64_t strides[1] = {columns * 2};
  const cuuint32_t box[2] = {box_columns, box_rows};
  const cuuint32_t element_strides[2] = {1, 1};
  CUtensorMap map;
  const CUresult status =
      tensor_map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(base), sizes, strides,
                           box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled refused a " + std::to_string(rows) + " x " +
                             std::to_string(columns) + " BF16 matrix with boxes of " +
                             std::to_string(box_rows) + " x " + std::to_string(box_columns) + ": CUresult " +
                             std::to_string(status));
  }
  return map;
}
