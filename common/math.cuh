// Small arithmetic the kernels share.
#pragma once

#include <cstdint>

// Two FP32 rounded to nearest even as BF16 in one register, `low` in bits 15-0 (cvt.rn.bf16x2.f32 takes the
// high half first).
__device__ inline uint32_t pack_bf16x2(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// Eight consecutive values as 16 bytes of BF16.
__device__ inline uint4 pack_bf16x8(const float (&values)[8]) {
  return {pack_bf16x2(values[0], values[1]), pack_bf16x2(values[2], values[3]),
          pack_bf16x2(values[4], values[5]), pack_bf16x2(values[6], values[7])};
}
