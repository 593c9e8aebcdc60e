// Operands of matrix cases: numbers near one, whose sums show the order and width of accumulation; whole
// numbers, exact in any order; wide ranges; cancelling and special values.
#pragma once
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {

enum class Content { kNearOne, kWhole, kWide, kCancelling, kSpecial };

// One element of `bits` bits with `exponent_bits` of exponent.
__device__ inline u32 element(u32 seed, Content content, int bits, int exponent_bits) {
  const u32 h = mix(seed), mantissa = bits - 1 - exponent_bits, bias = (1u << (exponent_bits - 1)) - 1;
  const u32 sign = h >> 31 << (bits - 1), fraction = h & ((1u << mantissa) - 1);
  switch (content) {
    case Content::kNearOne:
      return sign | (bias - 1 + (h >> 27 & 1)) << mantissa | fraction;
    case Content::kWhole:
      return h >> 30 ? sign | (bias + (h >> 26 & 1)) << mantissa : 0;
    case Content::kWide:
      return sign | (bias - 6 + (h >> 25) % 13) << mantissa | fraction;
    case Content::kCancelling:
      return (seed & 1) << (bits - 1) | (bias + (h >> 29 & 1)) << mantissa | (fraction & 3);
    case Content::kSpecial: {
      const u32 choice = (h >> 20) % 24, top = (1u << exponent_bits) - 1;
      if (choice == 0) return sign | top << mantissa;                           // infinity (e4m3: a number)
      if (choice == 1) return sign | top << mantissa | ((1u << mantissa) - 1);  // NaN
      if (choice < 6) return sign;
      if (choice < 10) return sign | fraction;  // subnormal
      return sign | (bias - 1 + (h >> 27 & 3)) << mantissa | fraction;
    }
  }
  return 0;
}
// A word of elements of 8, 16 or 32 bits.
__device__ inline u32 packed(u32 seed, Content content, int bits, int exponent_bits) {
  u32 word = 0;
  for (int k = 0; k < 32 / bits; ++k)
    word |= element(seed * 8 + k, content, bits, exponent_bits) << (bits * k);
  return word;
}
// An f32 accumulator.
__device__ inline u32 addend(u32 seed, Content content) {
  if (content == Content::kWide) return element(seed, Content::kWide, 32, 8) + ((mix(seed + 5) % 9) << 23);
  return element(seed, content, 32, 8);
}

}  // namespace conformance
