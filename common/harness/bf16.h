// BF16 on the host: the upper 16 bits of a float.
#pragma once
#include <bit>
#include <cstdint>

namespace harness {

using Bf16 = uint16_t;

inline float to_float(Bf16 value) { return std::bit_cast<float>(uint32_t{value} << 16); }

// Round to nearest, ties to even. NaN stays NaN.
inline Bf16 to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<Bf16>(bits >> 16 | 0x40);
  return static_cast<Bf16>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

}  // namespace harness
