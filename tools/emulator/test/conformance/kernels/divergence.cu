// Divergence and reconvergence: which lanes execute what, in which warp-wide order (PTX ISA 3.1, 9.7.12).
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {
namespace {

__device__ u32 lane() { return threadIdx.x & 31; }

__global__ void nested_ifs(u32* out) {
  u32 x = lane(), r = 0;
  if (x & 1) {
    if (x & 2) {
      r = x & 4 ? x * 3 : x * 5;
    } else {
      r = x * 7;
    }
    r += 100;
  } else if (x & 8) {
    r = x * 11;
  }
  __syncwarp();
  out[x] = r, out[32 + x] = __ballot_sync(~0u, r > 90);
}
__global__ void loop_trip_counts(u32* out) {
  u32 sum = 0, active = 0;
  for (u32 i = 0; i < lane(); ++i) sum += i * i;
  __syncwarp();
  active = __activemask();
  out[lane()] = sum, out[32 + lane()] = active;
}
__global__ void loop_break_continue(u32* out) {
  u32 h = lane(), steps = 0;
  while (true) {
    h = mix(h + 1);
    if (h % 7 == lane() % 7) break;
    if (h & 1) continue;
    if (++steps > 20) break;
  }
  out[lane()] = h, out[32 + lane()] = steps;
}
__global__ void nested_loops(u32* out) {
  u32 r = 1;
  for (u32 i = 0; i < lane() % 5; ++i)
    for (u32 j = i; j < lane() % 7; ++j) r = r * 31 + i * 8 + j;
  out[lane()] = r;
}
__global__ void early_return(u32* out) {
  out[lane()] = 1;
  if (lane() % 3 == 1) return;
  out[lane()] = 2 + __popc(__ballot_sync(0xffffffff & ~0x92492492u, 1));
  if (lane() > 20) return;
  out[32 + lane()] = __shfl_sync(0x1fffffu & ~0x92492492u, lane(), 0);
}
__global__ void exit_before_block_barrier(u32* out) {  // exited warps no longer count at a barrier
  __shared__ u32 s[128];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 96) return;
  __syncthreads();
  out[threadIdx.x] = s[95 - threadIdx.x];
}
__global__ void switch_dense(u32* out) {
  u32 r = 0;
  switch (lane() % 13) {
    case 0:
      r = 5;
      break;
    case 1:
      r = mix(lane());
      [[fallthrough]];
    case 2:
      r ^= 77;
      break;
    case 3:
      r = lane() * lane();
      break;
    case 5:
      for (u32 i = 0; i < lane(); ++i) r += i;
      break;
    case 7:
      r = __popc(lane());
      break;
    case 8:
      r = 1;
      [[fallthrough]];
    case 9:
      r += 2;
      [[fallthrough]];
    case 10:
      r += 4;
      break;
    default:
      r = 999;
  }
  out[lane()] = r;
}
__global__ void spin_on_own_warp(u32* out) {  // lane 0 waits for what lane 31 stores
  __shared__ volatile u32 flag;
  if (lane() == 0) flag = 0;
  __syncwarp();
  u32 seen = 0;
  if (lane() < 31) {
    while ((seen = flag) == 0) {
    }
  } else {
    flag = 42;
  }
  __syncwarp();
  out[lane()] = seen;
}
__global__ void ticket_lock(u32* out) {  // each lane takes a lock that others of its warp hold
  __shared__ u32 lock, count;
  if (threadIdx.x == 0) lock = 0, count = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0u, 1u) == 0) {
      volatile u32* c = &count;
      *c = *c + 1;
      __threadfence_block();
      atomicExch(&lock, 0u);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}
__global__ void chain_of_lanes(u32* out) {  // each lane waits for its neighbour's word
  __shared__ volatile u32 turn;
  if (lane() == 0) turn = 0;
  __syncwarp();
  while (turn != 31 - lane()) {
  }
  out[lane()] = turn * 2;
  __threadfence_block();
  turn = 31 - lane() + 1;
}
__device__ __noinline__ u32 deep(u32 x, u32* out) {
  if (x % 4 == 0) return x + 1;
  out[32 + lane()] = __popc(__ballot_sync(0xeeeeeeeeu, x & 2));
  return x * 2;
}
__global__ void call_in_branch(u32* out) {
  u32 r = 7;
  if (lane() < 32) r = deep(lane(), out);
  __syncwarp();
  out[lane()] = r + __popc(__ballot_sync(~0u, r & 1));
}
__device__ __noinline__ u32 plus_one(u32 x) { return x + 1; }
__device__ __noinline__ u32 times_three(u32 x) { return x * 3; }
__device__ __noinline__ u32 squared(u32 x) { return x * x; }
__device__ u32 (*const kFunctions[3])(u32) = {plus_one, times_three, squared};
__global__ void indirect_calls(u32* out) {  // three callees in one warp
  u32 (*f)(u32) = kFunctions[lane() % 3];
  u32 r = f(lane());
  if (lane() & 8) r = kFunctions[(lane() + 1) % 3](r);
  out[lane()] = r;
}
__device__ __noinline__ u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(u32* out) { out[lane()] = fibonacci(lane() % 11); }
__device__ __noinline__ u32 is_odd(u32 n);
__device__ __noinline__ u32 is_even(u32 n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ u32 is_odd(u32 n) { return n == 0 ? 0 : is_even(n - 1); }
__global__ void mutual_recursion(u32* out) { out[lane()] = is_even(lane()) * 2 + is_odd(lane()); }
struct Shape2 {
  __device__ virtual u32 area(u32 x) const { return x; }
};
struct Square2 : Shape2 {
  __device__ u32 area(u32 x) const override { return x * x; }
};
__global__ void virtual_calls(u32* out) {
  Shape2 plain;
  Square2 square;
  const Shape2* shape = lane() & 1 ? static_cast<const Shape2*>(&square) : &plain;
  out[lane()] = shape->area(lane() + 2);
}
__global__ void predicated(u32* out) {
  u32 r = 5, old = 0;
  asm volatile("{.reg .pred p; setp.gt.u32 p, %2, 12; @p add.u32 %0, %2, 100; @!p ld.global.u32 %1, [%3];}"
               : "+r"(r), "+r"(old)
               : "r"(lane()), "l"(out + 64));
  out[lane()] = r, out[32 + lane()] = old;
}
__global__ void syncwarp_orders(u32* out) {  // producer and consumer halves in different branches
  __shared__ u32 s[32];
  if (lane() < 16) {
    s[lane()] = lane() * lane();
    __syncwarp();
    out[lane()] = s[lane() + 16];
  } else {
    s[lane()] = lane() + 1000;
    __syncwarp();
    out[lane()] = s[lane() - 16];
  }
}
__global__ void goto_loop(u32* out) {
  u32 x = lane() + 1, n = 0;
again:
  if (x == 1) goto done;
  x = x & 1 ? 3 * x + 1 : x / 2;
  ++n;
  if (n < 60) goto again;
  n += 1000;
done:
  out[lane()] = n;
}
__global__ void block_barrier_in_uniform_loop(u32* out) {
  __shared__ u32 s[96];
  s[threadIdx.x] = threadIdx.x;
  for (int step = 1; step < 96; step *= 2) {
    __syncthreads();
    const u32 other = threadIdx.x >= step ? s[threadIdx.x - step] : 0;
    __syncthreads();
    s[threadIdx.x] += other;
  }
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void branch_table(u32* out) {  // brx.idx with an index of each lane
  u32 r = 0;
  asm volatile(
      "{ts: .branchtargets L0, L1, L2, L3;\n .reg .u32 i; and.b32 i, %1, 3; brx.idx i, ts;\n"
      "L0: mov.u32 %0, 10; bra.uni D;\n L1: mov.u32 %0, 21; bra.uni D;\n L2: add.u32 %0, %1, 32; bra.uni D;\n"
      "L3: mov.u32 %0, 43;\n D: \n}"
      : "+r"(r)
      : "r"(lane()));
  out[lane()] = r;
}
}  // namespace

void divergence_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words, Shape shape = {}) {
    add_kernel(table, std::string("divergence.") + name, kernel, words, shape);
  };
  add("nested_ifs", nested_ifs, 64), add("loops_with_different_trip_counts", loop_trip_counts, 64);
  add("loop_break_continue", loop_break_continue, 64), add("nested_loops", nested_loops, 32);
  add("early_return", early_return, 64),
      add("exited_warps_and_a_barrier", exit_before_block_barrier, 96, {1, 128});
  add("switch", switch_dense, 32), add("spin_on_a_lane_of_the_own_warp", spin_on_own_warp, 32);
  add("lock_between_lanes", ticket_lock, 1, {1, 128}), add("lanes_in_a_chain", chain_of_lanes, 32);
  add("call_in_a_branch", call_in_branch, 64), add("indirect_calls", indirect_calls, 32);
  add("recursion", recursion, 32), add("mutual_recursion", mutual_recursion, 32),
      add("virtual_calls", virtual_calls, 32);
  add("predicated_instructions", predicated, 96), add("syncwarp_in_two_branches", syncwarp_orders, 32);
  add("goto_loop", goto_loop, 32), add("block_barrier_in_a_loop", block_barrier_in_uniform_loop, 96, {1, 96});
  add("branch_table", branch_table, 32);
}

}  // namespace conformance
