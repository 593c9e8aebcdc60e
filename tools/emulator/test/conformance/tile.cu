#include <cudaTypedefs.h>

#include "kernels/async_proxy.cuh"

namespace conformance {

u32 Tile::element_bytes() const {
  static constexpr u32 kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return kBytes[type];
}
std::vector<u64> Tile::all_strides() const {
  if (!strides.empty() || dims.size() == 1) return strides;
  std::vector<u64> packed;
  u64 bytes = (dims[0] * element_bytes() + 15) / 16 * 16;
  for (size_t d = 1; d < dims.size(); ++d) packed.push_back(bytes), bytes *= dims[d];
  return packed;
}
u64 Tile::tensor_bytes() const {
  return dims.size() == 1 ? (dims[0] * element_bytes() + 15) / 16 * 16 : all_strides().back() * dims.back();
}
u32 Tile::box_bytes() const {
  u32 bytes = element_bytes();
  for (size_t d = 0; d < box.size(); ++d)
    bytes *= steps.empty() ? box[d] : (box[d] + steps[d] - 1) / steps[d];
  return bytes;
}
u32 Tile::shared_bytes() const {
  const u32 inner = box[0] * element_bytes();
  const u32 span = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE  ? inner
                   : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 32u
                   : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64u
                                                          : 128u;
  return inner < span ? box_bytes() / inner * span : box_bytes();
}
CUtensorMap Tile::map(void* global) const {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                           &found),
          "cuTensorMapEncodeTiled");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  std::vector<cuuint64_t> sizes(dims.begin(), dims.end()), pitches;
  for (u64 stride : all_strides()) pitches.push_back(stride);
  pitches.push_back(0);
  const std::vector<u32> ones(dims.size(), 1);
  CUtensorMap map;
  if (encode(&map, type, dims.size(), global, sizes.data(), pitches.data(), box.data(),
             steps.empty() ? ones.data() : steps.data(), interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             fill) != CUDA_SUCCESS)
    throw cudaErrorInvalidValue;
  return map;
}

}  // namespace conformance
