// cp.async of the generic proxy (PTX ISA 9.7.9.25.3).
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {
namespace {

constexpr u32 kWords = 256;  // of the source, after the output
__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ u32* source(u32* out) { return out + 512; }

__device__ void prepare(u32* out, u32* s) {
  for (u32 k = threadIdx.x; k < kWords; k += blockDim.x) source(out)[k] = mix(k), s[k] = 0x77777777;
  __syncthreads();
}
__device__ void dump(u32* out, const u32* s) {
  __syncthreads();
  for (u32 k = threadIdx.x; k < kWords; k += blockDim.x) out[k] = s[k];
}
#define COPY(NAME, TEXT, WORDS_APART)                                                              \
  __global__ void NAME(u32* out) {                                                                 \
    __shared__ alignas(128) u32 s[kWords];                                                         \
    prepare(out, s);                                                                               \
    const u32 i = threadIdx.x * WORDS_APART;                                                       \
    asm volatile(TEXT ::"r"(shared_address(s + i)), "l"(source(out) + (kWords - WORDS_APART - i)), \
                 "r"(threadIdx.x % (4 * WORDS_APART + 1))                                          \
                 : "memory");                                                                      \
    asm volatile("cp.async.wait_all;" ::: "memory");                                               \
    dump(out, s);                                                                                  \
  }
COPY(ca_4, "cp.async.ca.shared.global [%0], [%1], 4;", 1)
COPY(ca_8, "cp.async.ca.shared.global [%0], [%1], 8;", 2)
COPY(ca_16, "cp.async.ca.shared.global.L2::128B [%0], [%1], 16;", 4)
COPY(cg_16, "cp.async.cg.shared.global [%0], [%1], 16;", 4)
COPY(source_size, "cp.async.cg.shared.global [%0], [%1], 16, %2;", 4)
COPY(source_size_4, "cp.async.ca.shared.global [%0], [%1], 4, %2;", 1)
COPY(ignore_source, "{.reg .pred p; setp.gt.u32 p, %2, 8; cp.async.ca.shared.global [%0], [%1], 16, p;}", 4)

__global__ void groups(u32* out) {  // four groups, waited for one after the other
  __shared__ alignas(16) u32 s[kWords];
  prepare(out, s);
  for (u32 k = 0; k < 4; ++k)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::"r"(
                     shared_address(s + threadIdx.x + 64 * k)),
                 "l"(source(out) + threadIdx.x * 4 + k)
                 : "memory");
  u32 r = 0;
  asm volatile("cp.async.wait_group 3;" ::: "memory");
  r = r * 5 + s[threadIdx.x];
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  r = r * 5 + s[threadIdx.x + 64] + s[threadIdx.x + 128];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  r = r * 5 + s[threadIdx.x + 192];
  out[256 + threadIdx.x] = r;
  dump(out, s);
}
__global__ void barrier_arrive(u32* out) {  // the copies of each thread arrive on an mbarrier
  __shared__ alignas(16) u32 s[kWords];
  __shared__ u64 barrier;
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(b) : "memory");
  prepare(out, s);
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [%2];" ::"r"(
          shared_address(s + threadIdx.x * 4)),
      "l"(source(out) + threadIdx.x * 4), "r"(b)
      : "memory");
  u32 done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(b)
                 : "memory");
  out[256 + threadIdx.x] = s[255 - threadIdx.x];
  dump(out, s);
}
__global__ void barrier_arrive_inc(u32* out) {  // without .noinc the pending count grows first
  __shared__ alignas(16) u32 s[kWords];
  __shared__ u64 barrier;
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(b) : "memory");
  prepare(out, s);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.mbarrier.arrive.shared.b64 [%2];" ::"r"(
                   shared_address(s + threadIdx.x * 4)),
               "l"(source(out) + threadIdx.x * 4), "r"(b)
               : "memory");
  u64 token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  u32 done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(b), "l"(token)
                 : "memory");
  out[256 + threadIdx.x] = s[255 - threadIdx.x];
  dump(out, s);
}
}  // namespace

void async_copy_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*)) {
    add_kernel(table, std::string("async_copy.") + name, kernel, 512 + kWords, {1, 64});
  };
  add("ca_4_bytes", ca_4), add("ca_8_bytes", ca_8), add("ca_16_bytes", ca_16), add("cg_16_bytes", cg_16);
  add("source_size_16", source_size), add("source_size_4", source_size_4),
      add("ignore_source", ignore_source);
  add("groups", groups), add("mbarrier_arrive_noinc", barrier_arrive),
      add("mbarrier_arrive", barrier_arrive_inc);
}

}  // namespace conformance
