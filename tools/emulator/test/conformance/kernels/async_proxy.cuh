// What the bulk and tensor copy cases share: one barrier, its wait, and tensor maps.
#pragma once
#include <cuda.h>

#include "../launch.cuh"
#include "../operands.h"

namespace conformance {

__device__ inline u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ inline void init_barrier(u32 b, u32 count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"(b), "r"(count)
               : "memory");
}
__device__ inline void expect_bytes(u32 b, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
__device__ inline void wait_parity(u32 b, u32 parity) {
  u32 done = 0;
  while (!done)
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, "
        "1, 0, p;}"
        : "=r"(done)
        : "r"(b), "r"(parity)
        : "memory");
}
__device__ inline void fence_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
__device__ inline void commit_and_wait() {
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// A tensor and a box of it. Sizes in elements, strides in bytes; the first dimension is the innermost.
struct Tile {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  std::vector<u64> dims;
  std::vector<u64> strides;  // of dimensions 1 and up; empty: packed, rounded up to 16 bytes
  std::vector<u32> box;
  std::vector<int> start;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  std::vector<u32> steps;  // element strides; empty: all 1
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;

  u32 element_bytes() const;
  std::vector<u64> all_strides() const;
  u64 tensor_bytes() const;
  u32 box_bytes() const;                // credited to the barrier
  u32 shared_bytes() const;             // inner boxes narrower than a swizzle span are padded to it
  CUtensorMap map(void* global) const;  // throws the CUDA error if it is refused
};
struct Coordinates {
  int at[5];
};

}  // namespace conformance
