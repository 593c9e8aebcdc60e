// Bulk tensor copies, device side (PTX ISA 9.7.9.27). One thread issues a copy; it runs in the async proxy
// and credits its bytes to an mbarrier when they have arrived. Coordinates are in elements, innermost
// dimension first.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "barrier.cuh"

namespace tma {

// Copies the box of `map` at (x, y) to `destination` in this CTA's shared memory (128-byte aligned, or
// aligned to the swizzle's repeat). Credits the full box, parts outside the tensor included.
__device__ inline void load_2d(void* destination, const CUtensorMap* map, int x, int y, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}

__device__ inline void load_3d(void* destination, const CUtensorMap* map, int x, int y, int z,
                               uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
      : "memory");
}

__device__ inline void load_4d(void* destination, const CUtensorMap* map, int x, int y, int z, int w,
                               uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(shared_address(barrier))
      : "memory");
}

}  // namespace tma
