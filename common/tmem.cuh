// Tensor memory: 128 lanes x 512 columns of 32 bits per SM (PTX ISA 9.7.16.1). An address holds the lane in
// bits 31-16 and the column in bits 15-0. Warp w of a CTA can only touch lanes 32 (w % 4) to 32 (w % 4) + 31,
// and its addresses must carry that lane base.
#pragma once

#include <cstdint>

#include "barrier.cuh"

namespace tmem {

// `lane` lanes and `column` columns past `base`.
__device__ constexpr uint32_t address(uint32_t base, uint32_t lane, uint32_t column) {
  return base + (lane << 16) + column;
}

// Allocates `columns` (a power of two, 32 to 512) and writes the address to *result in shared memory. One
// converged warp; blocks while other CTAs of the SM hold the columns. The write is weak: a barrier before
// others read it.
__device__ inline void alloc(uint32_t* result, uint32_t columns) {
  asm volatile(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(result)),
      "r"(columns)
      : "memory");
}

// Promises that this CTA allocates no more, so that a waiting CTA may.
__device__ inline void relinquish_alloc_permit() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}

// Frees what alloc returned. One converged warp, after everybody's last access and before the kernel ends.
__device__ inline void dealloc(uint32_t base, uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory");
}

// Thread t of the warp receives columns 0..7 of lane t, counted from `address` (shape 32x32b). Asynchronous:
// the values exist after wait_load(values). All lanes converged, same address.
__device__ inline void load_x8(uint32_t address, float (&values)[8]) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=f"(values[0]), "=f"(values[1]), "=f"(values[2]), "=f"(values[3]), "=f"(values[4]),
                 "=f"(values[5]), "=f"(values[6]), "=f"(values[7])
               : "r"(address)
               : "memory");
}

// The reverse: thread t writes columns 0..7 of lane t. Asynchronous until wait_store().
__device__ inline void store_x8(uint32_t address, const float (&values)[8]) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"(address),
               "f"(values[0]), "f"(values[1]), "f"(values[2]), "f"(values[3]), "f"(values[4]), "f"(values[5]),
               "f"(values[6]), "f"(values[7])
               : "memory");
}

__device__ inline void store_x8(uint32_t address, const uint32_t (&values)[8]) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"(address),
               "r"(values[0]), "r"(values[1]), "r"(values[2]), "r"(values[3]), "r"(values[4]), "r"(values[5]),
               "r"(values[6]), "r"(values[7])
               : "memory");
}

// Waits until this thread's earlier loads have delivered their registers, after which their columns may be
// overwritten. Naming the registers keeps the compiler from using them any earlier.
template <int N>
__device__ inline void wait_load(float (&values)[N]) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(values[i]));
}

// Waits until this thread's earlier stores are performed in tensor memory.
__device__ inline void wait_store() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }

}  // namespace tmem
