// Tensor stores and reductions (PTX ISA 9.7.9.27, 9.7.9.28): the whole tensor is dumped afterwards.
#include "async_proxy.cuh"

namespace conformance {
namespace {

enum Op { kStore, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

template <int kRank>
__device__ void store(const CUtensorMap* map, const Coordinates& c, u32 from, int op) {
  const u64 m = reinterpret_cast<u64>(map);
  if constexpr (kRank == 1)
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%1, {%2}], [%0];" ::"r"(from),
                 "l"(m), "r"(c.at[0])
                 : "memory");
  if constexpr (kRank == 3)
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%1, {%2,%3,%4}], [%0];" ::"r"(from),
                 "l"(m), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2])
                 : "memory");
  if constexpr (kRank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%1, {%2,%3,%4,%5}], [%0];" ::"r"(from),
        "l"(m), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
        : "memory");
  if constexpr (kRank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%1, {%2,%3,%4,%5,%6}], [%0];" ::"r"(from),
        "l"(m), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
        : "memory");
  if constexpr (kRank == 2) {
#define REDUCE(NAME)                                                     \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." NAME \
               ".bulk_group [%1, {%2,%3}], [%0];" ::"r"(from),           \
               "l"(m), "r"(c.at[0]), "r"(c.at[1])                        \
               : "memory")
    switch (op) {
      case kAdd:
        REDUCE("add");
        break;
      case kMin:
        REDUCE("min");
        break;
      case kMax:
        REDUCE("max");
        break;
      case kInc:
        REDUCE("inc");
        break;
      case kDec:
        REDUCE("dec");
        break;
      case kAnd:
        REDUCE("and");
        break;
      case kOr:
        REDUCE("or");
        break;
      case kXor:
        REDUCE("xor");
        break;
      default:
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2,%3}], [%0];" ::"r"(from),
                     "l"(m), "r"(c.at[0]), "r"(c.at[1])
                     : "memory");
    }
#undef REDUCE
  }
}

template <int kRank>
__global__ void store_tile(u32* out, const u32* source, const __grid_constant__ CUtensorMap map,
                           Coordinates at, u32 bytes, int op) {
  extern __shared__ __align__(1024) u32 window[];
  u32* s = window + (1024 - shared_address(window) % 1024) % 1024 / 4;
  for (u32 k = threadIdx.x; k < bytes / 4; k += blockDim.x) s[k] = source[k];
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) store<kRank>(&map, at, shared_address(s), op), commit_and_wait();
}

using Kernel = void (*)(u32*, const u32*, const CUtensorMap, Coordinates, u32, int);
constexpr Kernel kKernels[5] = {store_tile<1>, store_tile<2>, store_tile<3>, store_tile<4>, store_tile<5>};

enum Content { kCounting, kSpecialF32, kSpecialF64, kSpecialF16, kSpecialBf16, kIntegers };

// Shared memory and tensor of a case: counting halves, or pairs of special values that meet in every
// combination.
std::vector<u32> contents(Content content, size_t words, bool shared) {
  std::vector<u32> result(words);
  const auto f32 = special_values(Values::kF32), f64 = special_values(Values::kF64),
             f16 = special_values(Values::kF16), bf16 = special_values(Values::kBf16),
             i32 = special_values(Values::kI32);
  auto pick = [&](const std::vector<uint64_t>& values, size_t i) {
    return values[(shared ? i : i / 16 + i % 16 * 3) % values.size()];
  };
  for (size_t i = 0; i < words; ++i) {
    switch (content) {
      case kCounting:
        result[i] = shared ? (2 * i + 1) | (2 * i + 2) << 16 : 0xeeeeeeee;
        break;
      case kSpecialF32:
        result[i] =
            i < words * 3 / 4 ? pick(f32, i) : (mix(i + shared * 999) & 0x807fffff) | (120 + i % 8) << 23;
        break;
      case kSpecialF64:
        result[i] = pick(f64, i / 2) >> (i % 2 * 32);
        break;
      case kSpecialF16:
        result[i] = pick(f16, 2 * i) | pick(f16, 2 * i + 1) << 16;
        break;
      case kSpecialBf16:
        result[i] = pick(bf16, 2 * i) | pick(bf16, 2 * i + 1) << 16;
        break;
      case kIntegers:
        result[i] = pick(i32, i);
        break;
    }
  }
  return result;
}

void add(Table& table, const std::string& name, const Tile& tile, Op op = kStore,
         Content content = kCounting) {
  Case added;
  added.name = "tensor_store." + name, added.words = tile.tensor_bytes() / 4;
  added.run = [=](u32* out) {
    const std::vector<u32> before = contents(content, tile.tensor_bytes() / 4, false);
    const u32 bytes = tile.shared_bytes();
    const u32* source = to_device(contents(content, bytes / 4, true));
    u32* tensor = to_device(before);
    Coordinates at{};
    for (size_t d = 0; d < tile.start.size(); ++d) at.at[d] = tile.start[d];
    launch(kKernels[tile.dims.size() - 1], Shape{1, 64, 1, bytes + 1024}, out, source, tile.map(tensor), at,
           bytes, static_cast<int>(op));
    check(cudaMemcpyAsync(out, tensor, tile.tensor_bytes(), cudaMemcpyDeviceToDevice), "copy of the tensor");
  };
  table.push_back(added);
}

constexpr auto kNone = CU_TENSOR_MAP_SWIZZLE_NONE, k32 = CU_TENSOR_MAP_SWIZZLE_32B,
               k64 = CU_TENSOR_MAP_SWIZZLE_64B, k128 = CU_TENSOR_MAP_SWIZZLE_128B;
constexpr auto kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kF32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
               kU8 = CU_TENSOR_MAP_DATA_TYPE_UINT8, kF16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
               kF64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64, kI64 = CU_TENSOR_MAP_DATA_TYPE_INT64,
               kU64 = CU_TENSOR_MAP_DATA_TYPE_UINT64, kI32 = CU_TENSOR_MAP_DATA_TYPE_INT32,
               kU32 = CU_TENSOR_MAP_DATA_TYPE_UINT32, kTf32 = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
               kF32Ftz = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
}  // namespace

void tensor_store_cases(Table& table) {
  add(table, "rank_1", {kBf16, {128}, {}, {64}, {32}});
  add(table, "rank_2", {kBf16, {64, 12}, {}, {32, 8}, {16, 2}});
  add(table, "rank_3", {kBf16, {32, 6, 4}, {}, {16, 3, 2}, {8, 1, 2}});
  add(table, "rank_4", {kBf16, {16, 4, 4, 3}, {}, {8, 2, 3, 2}, {8, 1, 0, 1}});
  add(table, "rank_5", {kBf16, {16, 3, 3, 3, 2}, {}, {8, 2, 2, 2, 2}, {0, 1, 0, 1, 0}});
  add(table, "swizzle_32", {kBf16, {32, 20}, {}, {16, 16}, {8, 3}, k32});
  add(table, "swizzle_64", {kBf16, {48, 20}, {}, {32, 16}, {8, 3}, k64});
  add(table, "swizzle_128", {kBf16, {72, 20}, {}, {64, 16}, {8, 3}, k128});
  add(table, "swizzle_128_rank_3", {kBf16, {64, 6, 2}, {}, {64, 3, 2}, {0, 2, 0}, k128});
  add(table, "swizzle_32_narrow", {kBf16, {32, 20}, {}, {8, 16}, {8, 3}, k32});
  add(table, "swizzle_64_narrow_48", {kBf16, {48, 20}, {}, {24, 10}, {8, 3}, k64});
  add(table, "swizzle_128_narrow_48", {kBf16, {48, 20}, {}, {24, 12}, {8, 3}, k128});
  add(table, "rows_below_the_tensor", {kBf16, {32, 12}, {}, {32, 8}, {0, 7}});
  add(table, "columns_after_the_tensor", {kBf16, {52, 12}, {}, {32, 8}, {32, 2}});
  add(table, "columns_after_the_padded_tensor", {kBf16, {50, 12}, {128}, {32, 8}, {32, 2}});
  add(table, "overhang_rank_3", {kBf16, {24, 5, 3}, {}, {16, 4, 2}, {16, 3, 2}});
  add(table, "overhang_rank_5", {kBf16, {16, 3, 2, 2, 2}, {}, {8, 2, 2, 2, 2}, {8, 2, 1, 1, 1}});
  add(table, "all_outside", {kBf16, {32, 12}, {}, {32, 8}, {0, 50}});
  add(table, "corner_swizzle_128", {kBf16, {40, 12}, {}, {64, 8}, {8, 8}, k128});
  add(table, "padded_rows", {kBf16, {40, 12}, {112}, {16, 8}, {8, 2}});
  add(table, "element_strides", {kBf16, {32, 24}, {}, {32, 12}, {0, 3}, kNone, {1, 3}});
  add(table, "element_strides_rank_3", {kBf16, {16, 8, 6}, {}, {16, 6, 4}, {0, 1, 1}, kNone, {1, 2, 2}});
  add(table, "type_u8", {kU8, {96, 8}, {}, {48, 4}, {32, 2}});
  add(table, "type_f64", {kF64, {12, 8}, {}, {8, 4}, {2, 2}});
  add(table, "type_f32_ftz", {kF32Ftz, {16, 16}, {}, {16, 16}, {0, 0}}, kStore, kSpecialF32);
  add(table, "type_tf32", {kTf32, {16, 16}, {}, {16, 16}, {0, 0}}, kStore, kSpecialF32);
  add(table, "add_f32", {kF32, {16, 20}, {}, {16, 20}, {0, 0}}, kAdd, kSpecialF32);
  add(table, "add_f32_ftz", {kF32Ftz, {16, 20}, {}, {16, 20}, {0, 0}}, kAdd, kSpecialF32);
  add(table, "add_f64", {kF64, {8, 20}, {}, {8, 20}, {0, 0}}, kAdd, kSpecialF64);
  add(table, "add_f16", {kF16, {32, 20}, {}, {32, 20}, {0, 0}}, kAdd, kSpecialF16);
  add(table, "add_bf16", {kBf16, {32, 20}, {}, {32, 20}, {0, 0}}, kAdd, kSpecialBf16);
  add(table, "min_f16", {kF16, {32, 20}, {}, {32, 20}, {0, 0}}, kMin, kSpecialF16);
  add(table, "max_f16", {kF16, {32, 20}, {}, {32, 20}, {0, 0}}, kMax, kSpecialF16);
  add(table, "min_bf16", {kBf16, {32, 20}, {}, {32, 20}, {0, 0}}, kMin, kSpecialBf16);
  add(table, "max_bf16", {kBf16, {32, 20}, {}, {32, 20}, {0, 0}}, kMax, kSpecialBf16);
  add(table, "add_u32", {kU32, {16, 20}, {}, {16, 20}, {0, 0}}, kAdd, kIntegers);
  add(table, "add_s32", {kI32, {16, 20}, {}, {16, 20}, {0, 0}}, kAdd, kIntegers);
  add(table, "add_u64", {kU64, {8, 20}, {}, {8, 20}, {0, 0}}, kAdd, kIntegers);
  add(table, "min_s32", {kI32, {16, 20}, {}, {16, 20}, {0, 0}}, kMin, kIntegers);
  add(table, "max_u32", {kU32, {16, 20}, {}, {16, 20}, {0, 0}}, kMax, kIntegers);
  add(table, "min_s64", {kI64, {8, 20}, {}, {8, 20}, {0, 0}}, kMin, kIntegers);
  add(table, "max_u64", {kU64, {8, 20}, {}, {8, 20}, {0, 0}}, kMax, kIntegers);
  add(table, "inc_u32", {kU32, {16, 20}, {}, {16, 20}, {0, 0}}, kInc, kIntegers);
  add(table, "dec_u32", {kU32, {16, 20}, {}, {16, 20}, {0, 0}}, kDec, kIntegers);
  add(table, "and_u32", {kU32, {16, 20}, {}, {16, 20}, {0, 0}}, kAnd, kIntegers);
  add(table, "or_u64", {kU64, {8, 20}, {}, {8, 20}, {0, 0}}, kOr, kIntegers);
  add(table, "xor_u32", {kU32, {16, 20}, {}, {16, 20}, {0, 0}}, kXor, kIntegers);
  add(table, "add_swizzle_128_overhang", {kU32, {36, 12}, {}, {32, 8}, {8, 6}, k128}, kAdd, kIntegers);
}

}  // namespace conformance
