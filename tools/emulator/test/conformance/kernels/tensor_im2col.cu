// Tensor loads of the im2col mode (PTX ISA 5.5.4, 9.7.9.27), and what cuTensorMapEncodeIm2col refuses.
// Destinations are dumped with a margin.
#include <cudaTypedefs.h>

#include "async_proxy.cuh"

namespace conformance {
namespace {

constexpr u32 kMargin = 64;

// Sizes in elements, strides packed; the bounding box by its corners, innermost spatial dimension first.
struct Image {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  std::vector<u64> dims;  // channels, width, [height, [depth,]] images
  std::vector<int> lower, upper;
  u32 channels = 8, pixels = 8;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  std::vector<u32> steps;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
};

template <typename Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found), name);
  return reinterpret_cast<Function>(function);
}

CUresult encode(const Image& image, void* tensor, CUtensorMap* map) {
  static const auto function = driver_function<PFN_cuTensorMapEncodeIm2col_v12000>("cuTensorMapEncodeIm2col");
  std::vector<cuuint64_t> dims(image.dims.begin(), image.dims.end()), strides;
  u64 bytes = dims[0] * (image.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4
                         : image.type == CU_TENSOR_MAP_DATA_TYPE_UINT8 ? 1
                                                                       : 2);
  for (size_t d = 1; d < dims.size(); ++d) strides.push_back(bytes), bytes *= dims[d];
  const std::vector<u32> ones(dims.size(), 1);
  return function(map, image.type, dims.size(), tensor, dims.data(), strides.data(), image.lower.data(),
                  image.upper.data(), image.channels, image.pixels,
                  image.steps.empty() ? ones.data() : image.steps.data(), image.interleave, image.swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, image.fill);
}

struct Offsets {
  u16 at[3];
};

template <int kRank>
__device__ void load_pixels(u32 to, const CUtensorMap* map, const Coordinates& c, const Offsets& o,
                            u32 barrier) {
  const u64 m = reinterpret_cast<u64>(map);
#define HEAD(N) \
  "cp.async.bulk.tensor." #N "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, "
  if constexpr (kRank == 3)
    asm volatile(HEAD(3) "{%3,%4,%5}], [%2], {%6};" ::"r"(to), "l"(m), "r"(barrier), "r"(c.at[0]),
                 "r"(c.at[1]), "r"(c.at[2]), "h"(o.at[0])
                 : "memory");
  if constexpr (kRank == 4)
    asm volatile(HEAD(4) "{%3,%4,%5,%6}], [%2], {%7,%8};" ::"r"(to), "l"(m), "r"(barrier), "r"(c.at[0]),
                 "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "h"(o.at[0]), "h"(o.at[1])
                 : "memory");
  if constexpr (kRank == 5)
    asm volatile(HEAD(5) "{%3,%4,%5,%6,%7}], [%2], {%8,%9,%10};" ::"r"(to), "l"(m), "r"(barrier),
                 "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "h"(o.at[0]),
                 "h"(o.at[1]), "h"(o.at[2])
                 : "memory");
#undef HEAD
}
template <int kRank>
__global__ void load(u32* out, const __grid_constant__ CUtensorMap map, Coordinates at, Offsets offsets,
                     u32 bytes, u32 dumped) {
  extern __shared__ __align__(1024) u32 window[];
  __shared__ alignas(8) u64 barrier;
  u32* s = window + (1024 - shared_address(window) % 1024) % 1024 / 4;
  for (u32 k = threadIdx.x; k < dumped / 4; k += 32) s[k] = 0xeeeeeeee;
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(b, 1);
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    expect_bytes(b, bytes);
    load_pixels<kRank>(shared_address(s), &map, at, offsets, b);
  }
  wait_parity(b, 0);
  __syncthreads();
  for (u32 k = threadIdx.x; k < dumped / 4; k += 32) out[k] = s[k];
}

using Kernel = void (*)(u32*, const CUtensorMap, Coordinates, Offsets, u32, u32);
constexpr Kernel kKernels[3] = {load<3>, load<4>, load<5>};

std::vector<u16> numbered(size_t count) {
  std::vector<u16> elements(count);
  for (size_t i = 0; i < count; ++i) elements[i] = static_cast<u16>(i + 1);
  return elements;
}

void add(Table& table, const std::string& name, const Image& image, const std::vector<int>& start,
         const std::vector<u16>& offsets) {
  Case added;
  const u32 element = image.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4
                      : image.type == CU_TENSOR_MAP_DATA_TYPE_UINT8 ? 1
                                                                    : 2;
  const u32 row = image.channels * element;
  const u32 span = image.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? row : 16u << image.swizzle;
  const u32 bytes = row * image.pixels, dumped = (row < span ? span : row) * image.pixels + kMargin;
  added.name = "tensor_im2col." + name, added.words = dumped / 4;
  added.run = [=](u32* out) {
    size_t count = 1;
    for (u64 dim : image.dims) count *= dim;
    CUtensorMap map;
    if (encode(image, to_device(numbered(count * element / 2 + 64)), &map) != CUDA_SUCCESS)
      throw cudaErrorInvalidValue;
    Coordinates at{};
    Offsets moved{};
    for (size_t d = 0; d < start.size(); ++d) at.at[d] = start[d];
    for (size_t d = 0; d < offsets.size(); ++d) moved.at[d] = offsets[d];
    launch(kKernels[image.dims.size() - 3], Shape{1, 32, 1, dumped + 1024}, out, map, at, moved, bytes,
           dumped);
  };
  table.push_back(added);
}
constexpr auto kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kF32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
               kU8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
constexpr auto kNone = CU_TENSOR_MAP_SWIZZLE_NONE, k32 = CU_TENSOR_MAP_SWIZZLE_32B,
               k64 = CU_TENSOR_MAP_SWIZZLE_64B, k128 = CU_TENSOR_MAP_SWIZZLE_128B;
constexpr auto kNan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
constexpr auto k16B = CU_TENSOR_MAP_INTERLEAVE_16B, k32B = CU_TENSOR_MAP_INTERLEAVE_32B;

// One CUresult a word.
void parameter_checks(u32* out) {
  std::vector<u32> codes;
  void* tensor = device_buffer(1 << 16);
  const Image good{kBf16, {16, 8, 8, 4}, {-1, -1}, {-1, -1}, 16, 32};
  auto ask = [&](auto change) {
    Image image = good;
    void* address = tensor;
    change(image, address);
    CUtensorMap map;
    codes.push_back(encode(image, address, &map));
  };
  ask([](Image&, void*&) {});
  ask([](Image& i, void*&) { i.dims = {16, 8}, i.lower = i.upper = {0}; });                   // rank 2
  ask([](Image& i, void*&) { i.dims = {16, 8, 4}, i.lower = {-32768}, i.upper = {32767}; });  // rank 3
  ask([](Image& i, void*&) { i.dims = {16, 8, 4}, i.lower = {-32769}, i.upper = {32767}; });
  ask([](Image& i, void*&) { i.dims = {16, 8, 4}, i.lower = {-32768}, i.upper = {32768}; });
  ask([](Image& i, void*&) { i.lower = {-128, 0}, i.upper = {127, 0}; });
  ask([](Image& i, void*&) { i.lower = {-129, 0}; });
  ask([](Image& i, void*&) { i.upper = {0, 128}; });
  ask([](Image& i, void*&) { i.dims = {16, 8, 8, 4, 2}, i.lower = {-16, 0, 0}, i.upper = {15, 0, 0}; });
  ask([](Image& i, void*&) { i.dims = {16, 8, 8, 4, 2}, i.lower = {-17, 0, 0}, i.upper = {15, 0, 0}; });
  ask([](Image& i, void*&) { i.dims = {16, 8, 8, 4, 2}, i.lower = {0, 0, 0}, i.upper = {0, 0, 16}; });
  ask([](Image& i, void*&) { i.lower = {4, 0}, i.upper = {-4, 0}; });  // an empty bounding box
  ask([](Image& i, void*&) { i.lower = {4, 0}, i.upper = {-3, 0}; });
  ask([](Image& i, void*&) { i.lower = {5, 0}, i.upper = {-4, 0}; });
  ask([](Image& i, void*&) { i.lower = {0, 9}, i.upper = {0, 0}; });
  ask([](Image& i, void*&) { i.channels = 0; });
  ask([](Image& i, void*&) { i.channels = 12; });  // 24 bytes
  ask([](Image& i, void*&) { i.channels = 32; });  // more than the tensor has
  ask([](Image& i, void*&) { i.channels = 256; });
  ask([](Image& i, void*&) { i.channels = 264; });
  ask([](Image& i, void*&) { i.pixels = 0; });
  ask([](Image& i, void*&) { i.pixels = 1024; });
  ask([](Image& i, void*&) { i.pixels = 1025; });
  ask([](Image& i, void*&) { i.channels = 256, i.pixels = 456; });  // 228 KB
  ask([](Image& i, void*&) { i.channels = 256, i.pixels = 457; });
  ask([](Image& i, void*&) { i.channels = 256, i.pixels = 1024; });
  ask([](Image& i, void*&) { i.steps = {1, 8, 8, 1}; });
  ask([](Image& i, void*&) { i.steps = {1, 9, 1, 1}; });
  ask([](Image& i, void*&) { i.steps = {1, 0, 1, 1}; });
  ask([](Image& i, void*&) { i.steps = {0, 1, 1, 1}; });
  ask([](Image& i, void*&) { i.steps = {9, 1, 1, 1}; });
  ask([](Image& i, void*&) { i.steps = {1, 1, 1, 9}; });
  ask([](Image& i, void*&) { i.swizzle = k32; });
  ask([](Image& i, void*&) { i.swizzle = k32, i.channels = 32; });
  ask([](Image& i, void*&) { i.swizzle = k64, i.channels = 32; });
  ask([](Image& i, void*&) { i.swizzle = k128, i.channels = 64; });
  ask([](Image& i, void*&) { i.swizzle = k128, i.channels = 72; });
  ask([](Image& i, void*&) { i.interleave = k16B; });
  ask([](Image& i, void*&) { i.interleave = k32B; });
  ask([](Image& i, void*&) { i.interleave = k32B, i.swizzle = k32; });
  ask([](Image& i, void*&) { i.interleave = k16B, i.channels = 12; });
  ask([](Image&, void*& address) { address = static_cast<char*>(address) + 8; });
  ask([](Image&, void*& address) { address = static_cast<char*>(address) + 16; });
  ask([](Image& i, void*& address) {
    i.interleave = k32B, i.swizzle = k32, address = static_cast<char*>(address) + 16;
  });
  ask([](Image& i, void*&) { i.fill = kNan; });
  ask([](Image& i, void*&) { i.type = kU8, i.fill = kNan; });
  ask([](Image& i, void*&) { i.dims = {16, 8, 8, 0}; });
  ask([](Image& i, void*&) { i.dims = {12, 8, 8, 4}; });  // strides of 24 bytes
  codes.resize(64, 0x1234);
  check(cudaMemcpy(out, codes.data(), 256, cudaMemcpyHostToDevice), "copy of codes");
}
}  // namespace

void tensor_im2col_cases(Table& table) {
  const Image plane{kBf16, {16, 10, 6}, {-1}, {-1}, 8, 12};
  add(table, "rank_3", plane, {8, -1, 1}, {0});
  add(table, "rank_3_offset", plane, {8, -1, 1}, {2});
  add(table, "rank_3_middle", plane, {0, 4, 2}, {1});
  add(table, "rank_3_past_the_end", plane, {0, 6, 5}, {0});
  const Image image{kBf16, {16, 8, 7, 4}, {-1, -1}, {-1, -1}, 16, 32};
  add(table, "rank_4", image, {0, -1, -1, 0}, {0, 0});
  add(table, "rank_4_offset_w", image, {0, -1, -1, 0}, {2, 0});
  add(table, "rank_4_offset_h", image, {0, -1, -1, 0}, {0, 2});
  add(table, "rank_4_offset_both", image, {0, 2, 3, 1}, {1, 2});
  add(table, "rank_4_next_image", image, {0, 3, 4, 2}, {2, 1});
  add(table, "rank_4_last_image", image, {0, 3, 4, 3}, {2, 1});
  add(table, "rank_4_channels_overhang", image, {8, 2, 3, 1}, {1, 2});
  add(table, "rank_4_channels_negative", image, {-8, 2, 3, 1}, {1, 2});
  add(table, "rank_4_negative_image", image, {0, 0, 0, -1}, {0, 0});
  add(table, "rank_4_before_the_box", image, {0, -2, 0, 0}, {0, 0});
  add(table, "rank_4_behind_the_box", image, {0, 7, 5, 0}, {0, 0});
  const Image valid{kBf16, {8, 9, 8, 3}, {0, 0}, {-2, -2}, 8, 40};
  add(table, "rank_4_valid", valid, {0, 0, 0, 0}, {1, 1});
  const Image same{kBf16, {8, 6, 5, 3}, {-2, -1}, {2, 1}, 8, 64};
  add(table, "rank_4_wide_box", same, {0, -2, -1, 0}, {0, 0});
  add(table, "rank_4_wide_box_offset", same, {0, 3, 2, 1}, {1, 1});
  const Image uneven{kBf16, {8, 9, 8, 3}, {0, -1}, {-2, 0}, 8, 30};
  add(table, "rank_4_uneven_corners", uneven, {0, 1, -1, 0}, {2, 1});
  add(table, "steps_2", {kBf16, {8, 9, 8, 3}, {-1, -1}, {0, 0}, 8, 30, kNone, {1, 2, 2, 1}}, {0, -1, -1, 0},
      {0, 0});
  add(table, "steps_2_offset", {kBf16, {8, 9, 8, 3}, {-1, -1}, {0, 0}, 8, 30, kNone, {1, 2, 2, 1}},
      {0, 1, 1, 0}, {1, 2});
  add(table, "steps_3_1", {kBf16, {8, 9, 8, 3}, {-1, -1}, {-1, -1}, 8, 30, kNone, {1, 3, 1, 1}},
      {0, -1, 0, 0}, {1, 1});
  add(table, "steps_odd_start", {kBf16, {8, 9, 8, 3}, {-1, -1}, {0, 0}, 8, 30, kNone, {1, 2, 2, 1}},
      {0, 0, 2, 0}, {0, 0});
  add(table, "steps_of_images", {kBf16, {8, 5, 4, 5}, {0, 0}, {0, 0}, 8, 44, kNone, {1, 1, 1, 2}},
      {0, 0, 2, 0}, {0, 0});
  add(table, "swizzle_32", {kBf16, {16, 8, 7, 4}, {-1, -1}, {-1, -1}, 16, 24, k32}, {0, -1, -1, 0}, {1, 1});
  add(table, "swizzle_64", {kBf16, {32, 8, 7, 4}, {-1, -1}, {-1, -1}, 32, 24, k64}, {0, 2, 1, 1}, {1, 1});
  add(table, "swizzle_128", {kBf16, {64, 8, 7, 2}, {-1, -1}, {-1, -1}, 64, 24, k128}, {0, 2, 1, 1}, {1, 1});
  add(table, "swizzle_128_narrow", {kBf16, {64, 8, 7, 2}, {-1, -1}, {-1, -1}, 24, 20, k128}, {32, 2, 1, 0},
      {1, 1});
  add(table, "nan_fill", {kBf16, {16, 8, 7, 4}, {-1, -1}, {-1, -1}, 16, 20, kNone, {}, kNan}, {8, -1, -1, 0},
      {0, 0});
  add(table, "f32", {kF32, {8, 8, 7, 4}, {-1, -1}, {-1, -1}, 8, 20}, {0, -1, -1, 0}, {1, 1});
  add(table, "u8", {kU8, {32, 8, 7, 4}, {-1, -1}, {-1, -1}, 32, 20}, {0, -1, -1, 0}, {1, 1});
  const Image volume{kBf16, {8, 5, 4, 4, 2}, {-1, -1, -1}, {-1, -1, -1}, 8, 50};
  add(table, "rank_5", volume, {0, -1, -1, -1, 0}, {0, 0, 0});
  add(table, "rank_5_offset", volume, {0, 0, 1, 1, 0}, {1, 2, 1});
  add(table, "rank_5_next_volume", volume, {0, 2, 1, 2, 0}, {2, 0, 2});
  add(table, "starts_at_the_last_pixel", image, {0, 6, 5, 1}, {0, 0});
  add(table, "steps_at_the_last_pixel", {kBf16, {8, 9, 8, 3}, {-1, -1}, {0, 0}, 8, 12, kNone, {1, 2, 2, 1}},
      {0, 8, 7, 0}, {0, 0});
  add(table, "rank_4_image_behind", image, {0, 0, 0, 4}, {0, 0});
  add(table, "rank_4_h_before_the_box", image, {0, 0, -2, 0}, {0, 0});
  add(table, "channels_at_odd_place", image, {4, 0, 0, 0}, {0, 0});
  add(table, "pixels_beyond_the_tensor", {kBf16, {8, 4, 3, 2}, {0, 0}, {0, 0}, 8, 40}, {0, 0, 0, 0}, {0, 0});
  Case checks;
  checks.name = "tensor_im2col.parameter_checks", checks.words = 64, checks.run = parameter_checks;
  table.push_back(checks);
}

}  // namespace conformance
