// What the programs around tcgen05.mma share: the opening of a CTA.
#pragma once

#include "barrier.cuh"
#include "tmem.cuh"

// By all 128 threads: `done` awaits one commit, and `*base` is the address of kColumns columns of tensor
// memory.
template <int kGroup, int kColumns>
__device__ void open_cta(uint64_t* done, uint32_t* base) {
  if (threadIdx.x == 0) {
    mbarrier::init(done, 1);
    mbarrier::fence_init();
  }
  if (threadIdx.x < 32) {
    if constexpr (kGroup == 1)
      tmem::alloc(base, kColumns);
    else
      asm volatile(
          "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(base)),
          "n"(kColumns)
          : "memory");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}
