// Tensor loads (PTX ISA 9.7.9.27): ranks, swizzles, box shapes, out-of-bounds fill. The destination is dumped
// with a margin, so that bytes written outside the box differ too.
#include "async_proxy.cuh"

namespace conformance {
namespace {

constexpr u32 kMargin = 64;  // bytes after the destination that are dumped too

template <int kRank>
__device__ void load(u32 to, const CUtensorMap* map, const Coordinates& c, u32 barrier) {
  const u64 m = reinterpret_cast<u64>(map);
#define HEAD(N) "cp.async.bulk.tensor." #N "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
  if constexpr (kRank == 1)
    asm volatile(HEAD(1) "{%3}], [%2];" ::"r"(to), "l"(m), "r"(barrier), "r"(c.at[0]) : "memory");
  if constexpr (kRank == 2)
    asm volatile(HEAD(2) "{%3,%4}], [%2];" ::"r"(to), "l"(m), "r"(barrier), "r"(c.at[0]), "r"(c.at[1])
                 : "memory");
  if constexpr (kRank == 3)
    asm volatile(HEAD(3) "{%3,%4,%5}], [%2];" ::"r"(to), "l"(m), "r"(barrier), "r"(c.at[0]), "r"(c.at[1]),
                 "r"(c.at[2])
                 : "memory");
  if constexpr (kRank == 4)
    asm volatile(HEAD(4) "{%3,%4,%5,%6}], [%2];" ::"r"(to), "l"(m), "r"(barrier), "r"(c.at[0]), "r"(c.at[1]),
                 "r"(c.at[2]), "r"(c.at[3])
                 : "memory");
  if constexpr (kRank == 5)
    asm volatile(HEAD(5) "{%3,%4,%5,%6,%7}], [%2];" ::"r"(to), "l"(m), "r"(barrier), "r"(c.at[0]),
                 "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
                 : "memory");
#undef HEAD
}

// `offset`: bytes of the destination after a 1024-byte boundary.
template <int kRank>
__global__ void load_tile(u32* out, const __grid_constant__ CUtensorMap map, Coordinates at, u32 offset,
                          u32 bytes, u32 dumped) {
  extern __shared__ __align__(1024) u32 window[];
  __shared__ alignas(8) u64 barrier;
  u32* s = window + (1024 - shared_address(window) % 1024) % 1024 / 4;
  for (u32 k = threadIdx.x; k < (offset + dumped) / 4; k += blockDim.x) s[k] = 0xeeeeeeee;
  if (threadIdx.x == 0) init_barrier(shared_address(&barrier), 1);
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    expect_bytes(shared_address(&barrier), bytes);
    load<kRank>(shared_address(s) + offset, &map, at, shared_address(&barrier));
  }
  wait_parity(shared_address(&barrier), 0);
  __syncthreads();
  for (u32 k = threadIdx.x; k < dumped / 4; k += blockDim.x) out[k] = s[offset / 4 + k];
}

using Kernel = void (*)(u32*, const CUtensorMap, Coordinates, u32, u32, u32);
constexpr Kernel kKernels[5] = {load_tile<1>, load_tile<2>, load_tile<3>, load_tile<4>, load_tile<5>};

void add(Table& table, const std::string& name, const Tile& tile, u32 offset = 0, bool floats = false) {
  Case added;
  const u32 dumped = tile.shared_bytes() + kMargin;
  added.name = "tensor_load." + name, added.words = dumped / 4;
  added.run = [=](u32* out) {
    std::vector<u16> elements(tile.tensor_bytes() / 2);
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = floats ? static_cast<u16>(mix(i / 2) >> (i % 2 * 16)) : static_cast<u16>(i + 1);
    if (floats) {  // special values first
      const auto specials = special_values(Values::kF32);
      for (size_t i = 0; i < specials.size(); ++i)
        elements[2 * i] = specials[i] & 0xffff, elements[2 * i + 1] = specials[i] >> 16;
    }
    Coordinates at{};
    for (size_t d = 0; d < tile.start.size(); ++d) at.at[d] = tile.start[d];
    launch(kKernels[tile.dims.size() - 1], Shape{1, 64, 1, offset + dumped + 1024}, out,
           tile.map(to_device(elements)), at, offset, tile.box_bytes(), dumped);
  };
  table.push_back(added);
}

constexpr auto kNone = CU_TENSOR_MAP_SWIZZLE_NONE, k32 = CU_TENSOR_MAP_SWIZZLE_32B,
               k64 = CU_TENSOR_MAP_SWIZZLE_64B, k128 = CU_TENSOR_MAP_SWIZZLE_128B;
constexpr auto kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kF32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
               kU8 = CU_TENSOR_MAP_DATA_TYPE_UINT8, kF16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
               kF64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64, kI64 = CU_TENSOR_MAP_DATA_TYPE_INT64,
               kI32 = CU_TENSOR_MAP_DATA_TYPE_INT32, kTf32 = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
               kF32Ftz = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, kTf32Ftz = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
               kU16 = CU_TENSOR_MAP_DATA_TYPE_UINT16;
constexpr auto kNan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
               kZero = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}  // namespace

void tensor_load_cases(Table& table) {
  add(table, "rank_1", {kBf16, {256}, {}, {64}, {32}});
  add(table, "rank_1_overhang", {kBf16, {100}, {}, {64}, {64}});
  add(table, "rank_2", {kBf16, {64, 20}, {}, {32, 8}, {16, 5}});
  add(table, "rank_3", {kBf16, {32, 6, 5}, {}, {16, 3, 2}, {8, 1, 2}});
  add(table, "rank_4", {kBf16, {16, 4, 4, 3}, {}, {8, 2, 3, 2}, {8, 1, 0, 1}});
  add(table, "rank_5", {kBf16, {16, 3, 3, 3, 3}, {}, {8, 2, 2, 2, 2}, {0, 1, 0, 1, 1}});
  add(table, "rank_3_overhang_everywhere", {kBf16, {20, 5, 3}, {}, {16, 4, 2}, {16, 3, 2}});
  add(table, "rank_4_overhang", {kBf16, {16, 4, 4, 3}, {}, {8, 3, 3, 2}, {8, 2, 3, 2}});
  add(table, "rank_5_overhang", {kBf16, {16, 3, 3, 3, 3}, {}, {8, 2, 2, 2, 2}, {0, 2, 2, 2, 2}});
  add(table, "padded_rows", {kBf16, {40, 16}, {112}, {16, 8}, {8, 4}});
  add(table, "swizzle_32", {kBf16, {64, 32}, {}, {16, 16}, {16, 3}, k32});
  add(table, "swizzle_64", {kBf16, {64, 32}, {}, {32, 16}, {16, 3}, k64});
  add(table, "swizzle_128", {kBf16, {128, 32}, {}, {64, 16}, {32, 3}, k128});
  add(table, "swizzle_128_8_rows", {kBf16, {64, 8}, {}, {64, 8}, {0, 0}, k128});
  add(table, "swizzle_32_narrow", {kBf16, {64, 32}, {}, {8, 16}, {16, 3}, k32});
  add(table, "swizzle_64_narrow_16", {kBf16, {64, 32}, {}, {8, 16}, {16, 3}, k64});
  add(table, "swizzle_64_narrow_48", {kBf16, {64, 32}, {}, {24, 10}, {16, 3}, k64});
  add(table, "swizzle_128_narrow_16", {kBf16, {64, 32}, {}, {8, 12}, {16, 3}, k128});
  add(table, "swizzle_128_narrow_48", {kBf16, {64, 32}, {}, {24, 12}, {16, 3}, k128});
  add(table, "swizzle_128_narrow_96", {kBf16, {64, 32}, {}, {48, 9}, {8, 3}, k128});
  add(table, "swizzle_128_at_512", {kBf16, {64, 32}, {}, {64, 6}, {0, 3}, k128}, 512);
  add(table, "swizzle_128_at_384", {kBf16, {64, 32}, {}, {64, 6}, {0, 3}, k128}, 384);
  add(table, "swizzle_64_at_256", {kBf16, {64, 32}, {}, {32, 6}, {0, 3}, k64}, 256);
  add(table, "swizzle_32_at_128", {kBf16, {64, 32}, {}, {16, 6}, {0, 3}, k32}, 128);
  add(table, "unswizzled_at_384", {kBf16, {64, 32}, {}, {32, 6}, {0, 3}}, 384);
  add(table, "swizzle_128_rank_3", {kBf16, {64, 8, 4}, {}, {64, 3, 2}, {0, 2, 1}, k128});
  add(table, "swizzle_64_rank_4", {kBf16, {32, 4, 3, 3}, {}, {32, 2, 2, 2}, {0, 1, 1, 1}, k64});
  add(table, "swizzle_128_rank_5", {kBf16, {64, 3, 2, 2, 2}, {}, {64, 2, 2, 1, 2}, {0, 1, 0, 1, 0}, k128});
  add(table, "swizzle_128_f32", {kF32, {64, 16}, {}, {32, 8}, {4, 2}, k128});
  add(table, "swizzle_128_u8", {kU8, {256, 16}, {}, {128, 8}, {16, 2}, k128});
  add(table, "swizzle_64_f64", {kF64, {16, 16}, {}, {8, 8}, {2, 2}, k64});
  add(table, "rows_below_the_tensor", {kBf16, {64, 20}, {}, {32, 8}, {0, 16}});
  add(table, "rows_above_the_tensor", {kBf16, {64, 20}, {}, {32, 8}, {0, -3}});
  add(table, "columns_before_the_tensor", {kBf16, {64, 20}, {}, {32, 8}, {-16, 4}});
  add(table, "columns_after_the_tensor", {kBf16, {52, 20}, {}, {32, 8}, {32, 4}});
  add(table, "all_outside", {kBf16, {64, 20}, {}, {32, 8}, {0, 100}});
  add(table, "all_outside_negative", {kBf16, {64, 20}, {}, {32, 8}, {-64, -50}});
  add(table, "corner_outside_swizzle_128", {kBf16, {56, 20}, {}, {64, 8}, {-8, 15}, k128});
  add(table, "nan_fill_bf16", {kBf16, {20, 10}, {}, {16, 8}, {8, 6}, kNone, {}, kNan});
  add(table, "nan_fill_f16", {kF16, {20, 10}, {}, {16, 8}, {8, 6}, kNone, {}, kNan});
  add(table, "nan_fill_f32", {kF32, {20, 10}, {}, {16, 8}, {8, 6}, kNone, {}, kNan});
  add(table, "nan_fill_f64", {kF64, {10, 10}, {}, {8, 8}, {4, 6}, kNone, {}, kNan});
  add(table, "nan_fill_tf32", {kTf32, {20, 10}, {}, {16, 8}, {8, 6}, kNone, {}, kNan});
  add(table, "nan_fill_f32_ftz", {kF32Ftz, {20, 10}, {}, {16, 8}, {8, 6}, kNone, {}, kNan});
  add(table, "nan_fill_swizzle_128", {kBf16, {40, 10}, {}, {64, 8}, {0, -2}, k128, {}, kNan});
  add(table, "nan_fill_narrow_swizzle_128", {kBf16, {20, 10}, {}, {24, 8}, {0, 6}, k128, {}, kNan});
  add(table, "type_f32", {kF32, {32, 8}, {}, {16, 8}, {0, 0}}, 0, true);
  add(table, "type_f32_ftz", {kF32Ftz, {32, 8}, {}, {16, 8}, {0, 0}}, 0, true);
  add(table, "type_tf32", {kTf32, {32, 8}, {}, {32, 8}, {0, 0}}, 0, true);
  add(table, "type_tf32_ftz", {kTf32Ftz, {32, 8}, {}, {32, 8}, {0, 0}}, 0, true);
  add(table, "type_f16", {kF16, {64, 8}, {}, {32, 8}, {0, 0}}, 0, true);
  add(table, "type_i32", {kI32, {20, 8}, {}, {16, 4}, {8, 2}});
  add(table, "type_i64", {kI64, {10, 8}, {}, {8, 4}, {4, 2}});
  add(table, "type_u8", {kU8, {100, 8}, {}, {48, 4}, {64, 2}});
  add(table, "type_u16", {kU16, {50, 8}, {}, {48, 4}, {8, 2}});
  add(table, "element_strides_rows", {kBf16, {32, 40}, {}, {32, 16}, {0, 5}, kNone, {1, 4}});
  add(table, "element_strides_uneven", {kBf16, {32, 40}, {}, {32, 10}, {0, 5}, kNone, {1, 3}});
  add(table, "element_strides_rank_3", {kBf16, {16, 12, 9}, {}, {16, 6, 5}, {0, 1, 1}, kNone, {1, 2, 2}});
  add(table, "element_strides_overhang", {kBf16, {32, 40}, {}, {32, 16}, {0, 31}, kNone, {1, 4}});
  add(table, "element_strides_swizzle_128", {kBf16, {64, 40}, {}, {64, 16}, {0, 5}, k128, {1, 2}});
  add(table, "box_one_row", {kBf16, {64, 20}, {}, {64, 1}, {0, 7}, k128});
  add(table, "box_one_column", {kF32, {64, 64}, {}, {4, 64}, {8, 0}});
  add(table, "box_256_rows", {kU8, {16, 300}, {}, {16, 256}, {0, 44}});
  add(table, "box_larger_than_the_tensor", {kBf16, {24, 5}, {}, {32, 8}, {0, 0}});
}

}  // namespace conformance
