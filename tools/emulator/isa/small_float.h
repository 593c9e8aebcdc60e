// The fp8, fp6 and fp4 formats.
#pragma once

#include "isa/alu_number.h"

namespace emu::isa::EMU_ISA_SET {

// A format of at most eight bits: exponent and fraction bits, and the code of its largest finite value.
template <int kExponentBits, int kFractionBits, u32 kLargestCode, u32 kNanCode>
struct Small {
  static constexpr int kExponent = kExponentBits;
  static constexpr int kFraction = kFractionBits;
  static constexpr u32 kLargest = kLargestCode;
  static constexpr u32 kNan = kNanCode;  // what a NaN becomes
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr u32 kSign = 1u << (kExponentBits + kFractionBits);
};
using E4m3 = Small<4, 3, 0x7e, 0x7f>;
using E5m2 = Small<5, 2, 0x7b, 0x7f>;
using E2m3 = Small<2, 3, 0x1f, 0x1f>;
using E3m2 = Small<3, 2, 0x1f, 0x1f>;
using E2m1 = Small<2, 1, 0x07, 0x07>;

// The value of a code, without NaN and infinity: rebias by a multiplication, which handles subnormals.
template <typename F>
EMU_INLINE float small_finite(u32 code) {
  const float scale = as_float(static_cast<u32>(127 + 127 - F::kBias) << 23);
  const u32 magnitude = (code & (F::kSign - 1)) << (23 - F::kFraction);
  const u32 sign = (code & F::kSign) != 0 ? 0x80000000 : 0;
  return as_float(bits(as_float(magnitude) * scale) | sign);
}
template <typename F>
EMU_INLINE float small_value(u32 code) {
  const u32 magnitude = code & (F::kSign - 1);
  float value = small_finite<F>(code);
  if constexpr (std::is_same_v<F, E4m3>) value = magnitude == 0x7f ? as_float(kCanonicalNan) : value;
  if constexpr (std::is_same_v<F, E5m2>) {
    const u32 infinity = 0x7f800000 | (bits(value) & 0x80000000);
    value = magnitude == 0x7c ? as_float(infinity) : value;
    value = magnitude > 0x7c ? as_float(kCanonicalNan) : value;
  }
  return value;
}

}  // namespace emu::isa::EMU_ISA_SET
