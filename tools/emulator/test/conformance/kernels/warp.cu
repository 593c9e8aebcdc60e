// Warp-level exchange: shuffles, votes, match, redux, elect, activemask (PTX ISA 9.7.9.6, 9.7.13).
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {
namespace {

__device__ u32 lane() { return threadIdx.x & 31; }
__device__ u32 value() { return mix(threadIdx.x + 1); }

// Two words a lane: the value and the predicate.
#define SHUFFLE(NAME, MODE, B, C, MASK)                                                                 \
  __global__ void NAME(u32* out) {                                                                      \
    u32 result = 0, inside = 0;                                                                         \
    if ((MASK) >> lane() & 1)                                                                           \
      asm volatile("{.reg .pred p; shfl.sync." MODE ".b32 %0|p, %2, %3, %4, %5; selp.u32 %1, 1, 0, p;}" \
                   : "=r"(result), "=r"(inside)                                                         \
                   : "r"(value()), "r"(B), "r"(C), "r"(MASK));                                          \
    out[2 * lane()] = result, out[2 * lane() + 1] = inside;                                             \
  }
SHUFFLE(shfl_bfly, "bfly", 5u, 31u, 0xffffffffu)
SHUFFLE(shfl_bfly_partial, "bfly", 1u, 31u, 0x0ff0f0ffu)
SHUFFLE(shfl_up, "up", 3u, 0u, 0xffffffffu)
SHUFFLE(shfl_up_segments, "up", 2u, 0x1800u, 0xffffffffu)
SHUFFLE(shfl_down, "down", 7u, 31u, 0xffffffffu)
SHUFFLE(shfl_down_segments, "down", 3u, 0x181fu, 0xffffffffu)
SHUFFLE(shfl_idx, "idx", (lane() * 7u + 3u), 31u, 0xffffffffu)
SHUFFLE(shfl_idx_segments, "idx", (lane() * 5u), 0x1c1fu, 0xffffffffu)
SHUFFLE(shfl_clamp_below, "down", 2u, 0x000fu, 0xffffffffu)
SHUFFLE(shfl_idx_wide_index, "idx", (lane() + 64u), 31u, 0xffffffffu)

__global__ void shfl_in_branches(u32* out) {  // the two halves shuffle in different branches
  u32 result;
  if (lane() & 1) {
    result = __shfl_xor_sync(0xaaaaaaaa, value(), 2) + 1;
  } else {
    result = __shfl_sync(0x55555555, value(), 4) + 2;
  }
  out[lane()] = result;
}

__global__ void votes(u32* out) {
  const bool odd = value() & 1;
  out[lane()] = __ballot_sync(~0u, odd);
  out[32 + lane()] = __any_sync(~0u, lane() == 40) | __any_sync(~0u, lane() == 31) << 1 |
                     __all_sync(~0u, 1) << 2 | __all_sync(~0u, lane() > 0) << 3;
  u32 uniform;
  asm volatile(
      "{.reg .pred p, q; setp.gt.u32 p, %1, 50; vote.sync.uni.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q;}"
      : "=r"(uniform)
      : "r"(lane()));
  out[64 + lane()] = uniform;
}
__global__ void votes_under_divergence(u32* out) {
  out[lane()] = 0;
  if (lane() % 3 == 0) {
    out[lane()] = __ballot_sync(0x49249249, lane() > 10);
  } else if (lane() % 3 == 1) {
    out[lane()] = __ballot_sync(0x92492492, lane() > 20) | __all_sync(0x92492492, lane() < 40);
  } else {
    out[lane()] = __activemask();
  }
}
__global__ void match_any(u32* out) { out[lane()] = __match_any_sync(~0u, value() & 3); }
__global__ void match_any_b64(u32* out) {
  out[lane()] = 0;
  if (lane() < 20) out[lane()] = __match_any_sync(0xfffffu, (unsigned long long)(lane() % 5) << 40);
}
__global__ void match_all(u32* out) {
  int same = 0, different = 0;
  out[lane()] = __match_all_sync(~0u, 7u, &same);
  out[32 + lane()] = __match_all_sync(~0u, lane() >> 4, &different);
  out[64 + lane()] = same * 2 + different;
}
#define REDUX(NAME, OP, T)                                                                                   \
  __global__ void NAME(u32* out) {                                                                           \
    u32 all, part = 0;                                                                                       \
    asm volatile("redux.sync." OP "." T " %0, %1, 0xffffffff;" : "=r"(all) : "r"(value()));                  \
    if (lane() & 2) asm volatile("redux.sync." OP "." T " %0, %1, 0xcccccccc;" : "=r"(part) : "r"(value())); \
    out[lane()] = all, out[32 + lane()] = part;                                                              \
  }
REDUX(redux_add, "add", "s32")
REDUX(redux_min_s32, "min", "s32")
REDUX(redux_max_s32, "max", "s32")
REDUX(redux_min_u32, "min", "u32")
REDUX(redux_max_u32, "max", "u32")
REDUX(redux_and, "and", "b32")
REDUX(redux_or, "or", "b32")
REDUX(redux_xor, "xor", "b32")

__device__ u32 elected(u32 mask) {
  u32 leader, is;
  asm volatile("{.reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p;}"
               : "=r"(leader), "=r"(is)
               : "r"(mask));
  return leader * 2 + is;
}
__global__ void elect(u32* out) { out[lane()] = elected(~0u); }
__global__ void elect_under_divergence(u32* out) {
  if (lane() % 4 == 2) {
    out[lane()] = elected(0x44444444);
  } else {
    out[lane()] = elected(0xbbbbbbbb);
  }
}
__global__ void lane_masks(u32* out) {
  u32 eq, lt, le, gt, ge, id, warp;
  asm volatile(
      "mov.u32 %0, %%lanemask_eq; mov.u32 %1, %%lanemask_lt; mov.u32 %2, %%lanemask_le; mov.u32 %3, "
      "%%lanemask_gt; mov.u32 %4, %%lanemask_ge; mov.u32 %5, %%laneid; mov.u32 %6, %%warpid;"
      : "=r"(eq), "=r"(lt), "=r"(le), "=r"(gt), "=r"(ge), "=r"(id), "=r"(warp));
  u32* row = out + 7 * threadIdx.x;
  row[0] = eq, row[1] = lt, row[2] = le, row[3] = gt, row[4] = ge, row[5] = id, row[6] = warp;
}
__global__ void short_warp(u32* out) {  // 40 threads: the second warp has 8 lanes
  out[threadIdx.x] = __activemask();
  out[64 + threadIdx.x] =
      threadIdx.x < 32 ? __ballot_sync(~0u, lane() & 4) : __ballot_sync(0xffu, lane() & 4);
}
__global__ void warp_reduction(u32* out) {  // the usual loop of xor shuffles, in float
  float x = static_cast<float>(value() >> 8) * 0x1p-20f;
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  out[lane()] = __float_as_uint(x);
}
__global__ void thread_indices(u32* out) {
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * 24 + thread] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 |
                             blockIdx.y << 16 | blockIdx.z << 20 | blockDim.z << 24 | gridDim.z << 28;
}
}  // namespace

void warp_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words, Shape shape = {}) {
    add_kernel(table, std::string("warp.") + name, kernel, words, shape);
  };
  add("shfl_bfly", shfl_bfly, 64), add("shfl_bfly_partial_mask", shfl_bfly_partial, 64);
  add("shfl_up", shfl_up, 64), add("shfl_up_segments", shfl_up_segments, 64);
  add("shfl_down", shfl_down, 64), add("shfl_down_segments", shfl_down_segments, 64);
  add("shfl_idx", shfl_idx, 64), add("shfl_idx_segments", shfl_idx_segments, 64);
  add("shfl_clamp_below_31", shfl_clamp_below, 64), add("shfl_idx_index_over_31", shfl_idx_wide_index, 64);
  add("shfl_in_branches", shfl_in_branches, 32), add("votes", votes, 96);
  add("votes_under_divergence", votes_under_divergence, 32);
  add("match_any_b32", match_any, 32), add("match_any_b64_partial_mask", match_any_b64, 32),
      add("match_all", match_all, 96);
  add("redux_add", redux_add, 64), add("redux_min_s32", redux_min_s32, 64),
      add("redux_max_s32", redux_max_s32, 64);
  add("redux_min_u32", redux_min_u32, 64), add("redux_max_u32", redux_max_u32, 64);
  add("redux_and", redux_and, 64), add("redux_or", redux_or, 64), add("redux_xor", redux_xor, 64);
  add("elect", elect, 32), add("elect_under_divergence", elect_under_divergence, 32);
  add("lane_masks", lane_masks, 7 * 64, {1, 64}), add("short_warp", short_warp, 128, {1, 40});
  add("warp_reduction_f32", warp_reduction, 32);
  add("thread_and_block_indices", thread_indices, 12 * 24, {dim3(2, 3, 2), dim3(4, 3, 2)});
}

}  // namespace conformance
