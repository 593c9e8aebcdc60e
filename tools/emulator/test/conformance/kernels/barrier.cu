// Named barriers (PTX ISA 9.7.13.1).
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {
namespace {

__device__ u32 warp() { return threadIdx.x / 32; }

__global__ void sync_with_count(u32* out) {  // two pairs of warps, a barrier each
  __shared__ u32 s[128];
  s[threadIdx.x] = threadIdx.x * 3;
  asm volatile("bar.sync %0, 64;" ::"r"(1 + warp() / 2) : "memory");
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}
__global__ void arrive_then_sync(u32* out) {  // warps 0 and 1 produce, 2 and 3 consume
  __shared__ u32 s[64];
  for (u32 round = 0; round < 4; ++round) {
    if (warp() < 2) {
      asm volatile("bar.sync 2, 128;" ::: "memory");  // empty
      s[threadIdx.x] = threadIdx.x + 100 * round;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[round * 64 + threadIdx.x - 64] = s[127 - threadIdx.x];
    }
  }
}
__global__ void red_popc(u32* out) {
  u32 count;
  asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 50; bar.red.popc.u32 %0, 0, p;}"
               : "=r"(count)
               : "r"(threadIdx.x));
  out[threadIdx.x] = count;
}
__global__ void red_and_or(u32* out) {
  u32 all, any;
  asm volatile(
      "{.reg .pred p, q, r; setp.lt.u32 p, %2, 96; bar.red.and.pred q, 3, 96, p; selp.u32 %0, 1, 0, q;"
      " setp.eq.u32 p, %2, 95; bar.red.or.pred r, 3, 96, p; selp.u32 %1, 1, 0, r;}"
      : "=r"(all), "=r"(any)
      : "r"(threadIdx.x));
  out[threadIdx.x] = all * 2 + any;
}
__global__ void unaligned_sync(u32* out) {  // barrier.sync in two branches of one warp
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x & 1) {
    asm volatile("barrier.sync 4, 64;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
  } else {
    asm volatile("barrier.sync 4, 64;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x] + 1000;
  }
}
__global__ void sixteen_barriers(u32* out) {
  __shared__ u32 s[64];
  u32 r = threadIdx.x;
  for (u32 id = 0; id < 16; ++id) {
    s[threadIdx.x] = r;
    asm volatile("bar.sync %0;" ::"r"(id) : "memory");
    r = r * 3 + s[(threadIdx.x + id) % 64];
    asm volatile("bar.sync %0, %1;" ::"r"(15 - id), "r"(64) : "memory");
  }
  out[threadIdx.x] = r;
}
__global__ void syncthreads_count(u32* out) {
  out[threadIdx.x] = __syncthreads_count(mix(threadIdx.x) & 1) | __syncthreads_and(threadIdx.x < 96) << 16 |
                     __syncthreads_or(threadIdx.x == 3) << 17;
}
__global__ void ping_pong(u32* out) {  // two warps take turns through two barriers
  __shared__ u32 s;
  if (threadIdx.x == 0) s = 1;
  __syncthreads();
  for (u32 round = 0; round < 8; ++round) {
    if (warp() == round % 2 && (threadIdx.x & 31) == 0) s = s * 3 + warp(), out[round] = s;
    asm volatile("bar.sync 5, 64;" ::: "memory");
  }
}
__global__ void short_warp_counts_whole(u32* out) {  // 40 threads: a barrier counts two warps
  __shared__ u32 s[40];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  u32 r = s[39 - threadIdx.x];
  asm volatile("bar.sync 6, 64;" ::: "memory");
  out[threadIdx.x] = r;
}
}  // namespace

void barrier_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words, Shape shape) {
    add_kernel(table, std::string("barrier.") + name, kernel, words, shape);
  };
  add("sync_with_a_count", sync_with_count, 128, {1, 128}),
      add("producers_and_consumers", arrive_then_sync, 256, {1, 128});
  add("red_popc", red_popc, 96, {1, 96}), add("red_and_or", red_and_or, 96, {1, 96});
  add("unaligned_in_branches", unaligned_sync, 64, {1, 64}),
      add("all_sixteen", sixteen_barriers, 64, {1, 64});
  add("syncthreads_count_and_or", syncthreads_count, 96, {1, 96}), add("ping_pong", ping_pong, 8, {1, 64});
  add("short_warp_counts_whole", short_warp_counts_whole, 40, {1, 40});
}

}  // namespace conformance
