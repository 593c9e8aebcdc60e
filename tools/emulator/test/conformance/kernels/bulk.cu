// One-dimensional bulk copies and reductions, bulk groups (PTX ISA 9.7.9.25.4, 9.7.9.25.5).
#include "async_proxy.cuh"

namespace conformance {
namespace {

constexpr u32 kWords = 256;  // of shared memory
__device__ u32* source(u32* out) { return out + 512; }

__global__ void load(u32* out) {
  __shared__ alignas(128) u32 s[kWords];
  __shared__ u64 barrier;
  for (u32 k = threadIdx.x; k < kWords; k += 32) source(out)[k] = mix(k), s[k] = 0xeeeeeeee;
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(b, 1);
  fence_async();
  __syncwarp();
  if (threadIdx.x == 0) {
    expect_bytes(b, 16 + 240 + 512);
    const u32 sizes[3] = {16, 240, 512}, at[3] = {0, 16, 512};
    for (u32 k = 0; k < 3; ++k)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              shared_address(s) + at[k]),
          "l"(source(out) + 8 * k), "r"(sizes[k]), "r"(b)
          : "memory");
  }
  wait_parity(b, 0);
  for (u32 k = threadIdx.x; k < kWords; k += 32) out[k] = s[k];
}
__global__ void store(u32* out) {
  __shared__ alignas(128) u32 s[kWords];
  for (u32 k = threadIdx.x; k < kWords; k += 32) s[k] = mix(k);
  fence_async();
  __syncwarp();
  if (threadIdx.x == 0) {
    for (u32 k = 0; k < 4; ++k)
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 64 * (3 - k)),
                   "r"(shared_address(s + 32 * k)), "r"(64 * (k + 1))
                   : "memory");
    commit_and_wait();
  }
}
__global__ void groups(u32* out) {  // shared memory is reused once its group has been read
  __shared__ alignas(128) u32 s[2][64];
  for (u32 round = 0; round < 8; ++round) {
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    s[round & 1][threadIdx.x] = round * 1000 + threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;" ::"l"(
              out + 64 * round),
          "r"(shared_address(s[round & 1]))
          : "memory");
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void many_phases(u32* out) {  // one barrier, ten loads
  __shared__ alignas(128) u32 s[64];
  __shared__ u64 barrier;
  const u32 b = shared_address(&barrier);
  for (u32 k = threadIdx.x; k < 640; k += 32) source(out)[k] = mix(k + 7);
  if (threadIdx.x == 0) init_barrier(b, 1);
  fence_async();
  __syncwarp();
  u32 sum = 0;
  for (u32 round = 0; round < 10; ++round) {
    if (threadIdx.x == 0) {
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
              shared_address(s)),
          "l"(source(out) + 64 * round), "r"(b)
          : "memory");
      expect_bytes(b, 256);  // after the copy: the pending arrival keeps the phase open
    }
    wait_parity(b, round & 1);
    sum = sum * 7 + s[threadIdx.x] + s[threadIdx.x + 32];
    __syncwarp();
  }
  out[threadIdx.x] = sum;
}
__device__ const u32 kFloats[16] = {0,          0x80000000, 0x3f800000, 0xbf800000, 1,          0x80000001,
                                    0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                    0x7f812345, 0x33800000, 0x3f800001, 0x4b000001};
__device__ u32 operand(u32 i, int kind) {
  if (kind == 0) return i < 8 ? i - 4 : mix(i);
  if (kind == 1) return kFloats[i % 16];
  if (kind == 2) return (i * 0x2345 & 0xffff) | (i * 0x5432 + 0x3c00) << 16;  // halves of every exponent
  return i % 2 ? kFloats[i / 2 % 16] : mix(i);                                // the upper words of doubles
}
#define REDUCE(NAME, TEXT, KIND)                                                                             \
  __global__ void NAME(u32* out) {                                                                           \
    __shared__ alignas(128) u32 s[kWords];                                                                   \
    for (u32 k = threadIdx.x; k < kWords; k += 32)                                                           \
      s[k] = operand(k % 16, KIND), out[k] = operand(KIND == 3 ? k / 16 * 2 + k % 2 : k / 16, KIND);         \
    fence_async();                                                                                           \
    __syncwarp();                                                                                            \
    if (threadIdx.x == 0) {                                                                                  \
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." TEXT " [%0], [%1], %2;" ::"l"(out), \
                   "r"(shared_address(s)), "r"(4 * kWords)                                                   \
                   : "memory");                                                                              \
      commit_and_wait();                                                                                     \
    }                                                                                                        \
  }
REDUCE(add_u32, "add.u32", 0)
REDUCE(add_u64, "add.u64", 0)
REDUCE(min_s32, "min.s32", 0)
REDUCE(max_u32, "max.u32", 0)
REDUCE(max_s64, "max.s64", 0)
REDUCE(inc_u32, "inc.u32", 0)
REDUCE(dec_u32, "dec.u32", 0)
REDUCE(and_b32, "and.b32", 0)
REDUCE(or_b32, "or.b32", 0)
REDUCE(xor_b64, "xor.b64", 0)
REDUCE(add_f32, "add.f32", 1)
REDUCE(add_f64, "add.f64", 3)
REDUCE(add_f16, "add.noftz.f16", 2)
REDUCE(add_bf16, "add.noftz.bf16", 2)
REDUCE(min_f16, "min.f16", 2)
REDUCE(max_bf16, "max.bf16", 2)

__global__ void prefetch(u32* out) {  // an L2 prefetch changes nothing
  out[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], 128;" ::"l"(out) : "memory");
  out[32 + threadIdx.x] = out[threadIdx.x] + 1;
}
}  // namespace

void bulk_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words, Shape shape = {}) {
    add_kernel(table, std::string("bulk.") + name, kernel, words, shape);
  };
  add("load", load, 512 + kWords), add("store", store, 256), add("groups", groups, 512, {1, 64});
  add("many_phases", many_phases, 512 + 640), add("prefetch", prefetch, 64);
  add("add_u32", add_u32, kWords), add("add_u64", add_u64, kWords), add("min_s32", min_s32, kWords),
      add("max_u32", max_u32, kWords);
  add("max_s64", max_s64, kWords), add("inc_u32", inc_u32, kWords), add("dec_u32", dec_u32, kWords),
      add("and_b32", and_b32, kWords);
  add("or_b32", or_b32, kWords), add("xor_b64", xor_b64, kWords), add("add_f32", add_f32, kWords),
      add("add_f64", add_f64, kWords);
  add("add_f16", add_f16, kWords), add("add_bf16", add_bf16, kWords), add("min_f16", min_f16, kWords),
      add("max_bf16", max_bf16, kWords);
}

}  // namespace conformance
