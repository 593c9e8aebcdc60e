// tensormap.replace (PTX ISA 9.7.9.28): a copy of the launch's map is edited in global or in shared memory,
// then a tile is loaded with it and dumped with a margin.
#include "async_proxy.cuh"

namespace conformance {
namespace {

constexpr u32 kMargin = 64;

__device__ alignas(128) u64 edited_map[16];

// One field: FIELD names it and its type, VALUE is the new value's operand.
#define EDIT(NAME, FIELD, TYPE, VALUE)                                                                     \
  struct NAME {                                                                                            \
    template <bool kShared>                                                                                \
    static __device__ void apply(u64 map, u64 wide) {                                                      \
      const u32 value = static_cast<u32>(wide);                                                            \
      if constexpr (kShared)                                                                               \
        asm volatile("tensormap.replace.tile." FIELD ".shared::cta.b1024." TYPE " [%0], " VALUE            \
                     ";" ::"r"(static_cast<u32>(map)),                                                     \
                     "l"(wide), "r"(value)                                                                 \
                     : "memory");                                                                          \
      else                                                                                                 \
        asm volatile("tensormap.replace.tile." FIELD ".global.b1024." TYPE " [%0], " VALUE ";" ::"l"(map), \
                     "l"(wide), "r"(value)                                                                 \
                     : "memory");                                                                          \
    }                                                                                                      \
  };
EDIT(Address, "global_address", "b64", "%1")
EDIT(Rank, "rank", "b32", "%2")
EDIT(BoxDim0, "box_dim", "b32", "0, %2")
EDIT(BoxDim1, "box_dim", "b32", "1, %2")
EDIT(BoxDim2, "box_dim", "b32", "2, %2")
EDIT(GlobalDim0, "global_dim", "b32", "0, %2")
EDIT(GlobalDim1, "global_dim", "b32", "1, %2")
EDIT(GlobalDim2, "global_dim", "b32", "2, %2")
EDIT(GlobalStride0, "global_stride", "b64", "0, %1")
EDIT(GlobalStride1, "global_stride", "b64", "1, %1")
EDIT(ElementStride0, "element_stride", "b32", "0, %2")
EDIT(ElementStride1, "element_stride", "b32", "1, %2")
EDIT(ElementStride2, "element_stride", "b32", "2, %2")
#define CHOICE(NAME, FIELD, VALUE) EDIT(NAME##VALUE, FIELD, "b32", #VALUE)
CHOICE(Type, "elemtype", 0)
CHOICE(Type, "elemtype", 1) CHOICE(Type, "elemtype", 2) CHOICE(Type, "elemtype", 3)
    CHOICE(Type, "elemtype", 4) CHOICE(Type, "elemtype", 5) CHOICE(Type, "elemtype", 6)
        CHOICE(Type, "elemtype", 7) CHOICE(Type, "elemtype", 8) CHOICE(Type, "elemtype", 9)
            CHOICE(Type, "elemtype", 10) CHOICE(Type, "elemtype", 11) CHOICE(Type, "elemtype", 12)
                CHOICE(Interleave, "interleave_layout", 0) CHOICE(Swizzle, "swizzle_mode", 0)
                    CHOICE(Swizzle, "swizzle_mode", 1) CHOICE(Swizzle, "swizzle_mode", 2)
                        CHOICE(Swizzle, "swizzle_mode", 3) CHOICE(Fill, "fill_mode", 0)
                            CHOICE(Fill, "fill_mode", 1)

                                template <int kRank>
                                __device__ void load(u32 to, u64 map, const Coordinates& c, u32 barrier) {
#define HEAD(N) "cp.async.bulk.tensor." #N "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
  if constexpr (kRank == 2)
    asm volatile(HEAD(2) "{%3,%4}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(c.at[0]), "r"(c.at[1])
                 : "memory");
  if constexpr (kRank == 3)
    asm volatile(HEAD(3) "{%3,%4,%5}], [%2];" ::"r"(to), "l"(map), "r"(barrier), "r"(c.at[0]), "r"(c.at[1]),
                 "r"(c.at[2])
                 : "memory");
#undef HEAD
}

// Of the edits, in their order.
struct Values {
  u64 at[4];
};

template <int kRank, bool kShared, typename... Edits>
__global__ void load_edited(u32* out, const __grid_constant__ CUtensorMap map, Coordinates at, u32 bytes,
                            u32 dumped, Values values) {
  extern __shared__ __align__(1024) u32 window[];
  __shared__ alignas(128) u64 shared_map[16];
  __shared__ alignas(8) u64 barrier;
  const u32 b = shared_address(&barrier);
  const u64 global_map = static_cast<u64>(__cvta_generic_to_global(edited_map));
  u32* s = window + (1024 - shared_address(window) % 1024) % 1024 / 4;
  for (u32 k = threadIdx.x; k < dumped / 4; k += 32) s[k] = 0xeeeeeeee;
  const u64* original = reinterpret_cast<const u64*>(&map);
  if (threadIdx.x < 16) (kShared ? shared_map : edited_map)[threadIdx.x] = original[threadIdx.x];
  if (threadIdx.x == 0) init_barrier(b, 1);
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    int next = 0;
    const u64 edited = kShared ? shared_address(shared_map) : global_map;
    (Edits::template apply<kShared>(edited, values.at[next++]), ...);
  }
  __syncwarp();
  if constexpr (kShared)
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
        "128;" ::"l"(global_map),
        "r"(shared_address(shared_map))
        : "memory");
  else if (threadIdx.x == 0)
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(edited_map) : "memory");
    expect_bytes(b, bytes);
    load<kRank>(shared_address(s), reinterpret_cast<u64>(edited_map), at, b);
  }
  wait_parity(b, 0);
  __syncthreads();
  for (u32 k = threadIdx.x; k < dumped / 4; k += 32) out[k] = s[k];
}

// `before` is encoded by the host; `bytes` and `dumped` belong to the map after the edits. Values are of the
// edits, in their order; an address is given as bytes from the tensor's begin.
struct Test {
  Tile before;
  u32 bytes, dumped;
  std::vector<u64> values;
};
template <int kRank, bool kShared, typename... Edits>
void add(Table& table, const std::string& name, const Test& test) {
  Case added;
  const u32 dumped = test.dumped + kMargin;
  added.name = "tensor_modify." + name, added.words = dumped / 4;
  added.run = [=](u32* out) {
    std::vector<u16> elements(8192);
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<u16>(mix(i));
    u16* tensor = to_device(elements);
    Values values{};
    for (size_t i = 0; i < test.values.size(); ++i) values.at[i] = test.values[i];
    if (name.find("address") == 0) values.at[0] += reinterpret_cast<u64>(tensor);
    Coordinates at{};
    for (size_t d = 0; d < test.before.start.size(); ++d) at.at[d] = test.before.start[d];
    launch(load_edited<kRank, kShared, Edits...>, Shape{1, 32, 1, dumped + 1024}, out,
           test.before.map(tensor), at, test.bytes, dumped, values);
  };
  table.push_back(added);
}
template <int kRank, typename... Edits>
void add_both(Table& table, const std::string& name, const Test& test) {
  add<kRank, false, Edits...>(table, name, test);
  add<kRank, true, Edits...>(table, name + "_in_shared", test);
}

constexpr auto kNone = CU_TENSOR_MAP_SWIZZLE_NONE, k32 = CU_TENSOR_MAP_SWIZZLE_32B;
constexpr auto kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kU8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
constexpr auto kNan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}  // namespace

void tensor_modify_cases(Table& table) {
  const Tile flat{kBf16, {64, 20}, {}, {32, 8}, {16, 5}};
  const Tile deep{kBf16, {32, 6, 5}, {}, {16, 3, 2}, {8, 1, 2}};
  add_both<2, Address>(table, "address", {flat, 512, 512, {640}});
  add_both<2, GlobalDim0>(table, "global_dim_0", {flat, 512, 512, {40}});
  add_both<2, GlobalDim1>(table, "global_dim_1", {flat, 512, 512, {9}});
  add<3, false, GlobalDim2>(table, "global_dim_2", {deep, 192, 192, {3}});
  add_both<2, GlobalStride0>(table, "global_stride_0", {flat, 512, 512, {96}});
  add<3, true, GlobalStride1>(table, "global_stride_1", {deep, 192, 192, {272}});
  add_both<2, BoxDim0>(table, "box_dim_0", {flat, 256, 256, {16}});
  add<2, false, BoxDim1>(table, "box_dim_1", {flat, 192, 192, {3}});
  add<3, false, BoxDim2>(table, "box_dim_2", {deep, 96, 96, {1}});
  add<2, false, ElementStride1>(table, "element_stride_1_to_2", {flat, 256, 512, {2}});
  add<2, false, ElementStride1>(table, "element_stride_1_to_3", {flat, 192, 512, {3}});
  add<2, false, ElementStride0>(table, "element_stride_0", {flat, 512, 512, {2}});
  add<3, true, ElementStride2>(table, "element_stride_2", {deep, 96, 192, {2}});
  add<2, false, Rank>(table, "rank_3_to_2", {deep, 96, 192, {1}});
  add<3, true, Rank, GlobalDim2, BoxDim2, GlobalStride1>(
      table, "rank_2_to_3", {Tile{kBf16, {32, 6}, {}, {16, 3}, {8, 1, 1}}, 192, 192, {2, 5, 2, 512}});
  const Tile swizzled{kBf16, {64, 20}, {}, {16, 16}, {16, 3}, k32};
  add<2, false, Swizzle0>(table, "swizzle_none", {swizzled, 512, 1024});
  add<2, false, Swizzle1>(table, "swizzle_32", {Tile{kBf16, {64, 20}, {}, {16, 16}, {16, 3}}, 512, 1024});
  add<2, true, Swizzle2>(table, "swizzle_64", {swizzled, 512, 1024});
  add_both<2, Swizzle3>(table, "swizzle_128", {swizzled, 512, 2048});
  const Tile overhang{kBf16, {20, 10}, {}, {16, 8}, {8, 6}};
  add<2, false, Fill1>(table, "fill_nan", {overhang, 256, 256});
  add<2, true, Fill0>(table, "fill_zero",
                      {Tile{kBf16, {20, 10}, {}, {16, 8}, {8, 6}, kNone, {}, kNan}, 256, 256});
  // The element type alone: strides stay bytes, boxes and sizes stay elements.
  const Tile bytes{kU8, {48, 16}, {}, {16, 4}, {32, 14}};
  add<2, false, Type0>(table, "type_0", {Tile{kBf16, {40, 10}, {}, {16, 8}, {16, 6}}, 128, 256});
  add<2, false, Type1>(table, "type_1", {bytes, 128, 512});
  add<2, false, Type2>(table, "type_2", {bytes, 256, 512});
  add<2, false, Type3>(table, "type_3", {bytes, 256, 512});
  add<2, false, Type4>(table, "type_4", {bytes, 512, 512});
  add<2, false, Type5>(table, "type_5", {bytes, 512, 512});
  add<2, false, Type6, Fill1>(table, "type_6", {bytes, 128, 512});
  add<2, false, Type7, Fill1>(table, "type_7", {bytes, 256, 512});
  add<2, false, Type8, Fill1>(table, "type_8", {bytes, 256, 512});
  add<2, false, Type9, Fill1>(table, "type_9", {bytes, 512, 512});
  add<2, false, Type10, Fill1>(table, "type_10", {bytes, 128, 512});
  add<2, false, Type11, Fill1>(table, "type_11", {bytes, 256, 512});
  add<2, true, Type12, Fill1>(table, "type_12", {bytes, 256, 512});
  add<2, false, Interleave0>(table, "interleave_none", {flat, 512, 512});
}

}  // namespace conformance
