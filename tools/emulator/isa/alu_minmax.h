// min and max of floats, shared by f32, half and redux forms.
#pragma once

#include "isa/alu_number.h"

namespace emu::isa::EMU_ISA_SET {

// +0 is greater than -0. A NaN operand loses against a number, or wins with .NaN; a NaN result is canonical.
// .xorsign.abs compares magnitudes and gives the result the product of the signs.
template <bool kMax, bool kNan, bool kXorSign>
EMU_INLINE float min_max_value(float x, float y) {
  const u32 sign = (bits(x) ^ bits(y)) & 0x80000000;
  if (kXorSign) x = std::fabs(x), y = std::fabs(y);
  // Selections by masks: with ?: the compiler threads jumps through nested calls and gives up vectorising.
  auto mask = [](bool condition) { return 0 - static_cast<u32>(condition); };
  auto select = [](u32 where, u32 one, u32 other) { return (one & where) | (other & ~where); };
  const u32 tie = kMax ? bits(x) & bits(y) : bits(x) | bits(y);
  const u32 ordered = select(mask(kMax ? x > y : x < y), bits(x), bits(y));
  const u32 number = select(mask(x == y), tie, ordered);
  const u32 x_nan = mask(x != x), y_nan = mask(y != y);
  u32 result = select(y_nan, bits(x), number);
  if (kXorSign) result |= sign;
  return as_float(select(kNan ? x_nan | y_nan : x_nan & y_nan, kCanonicalNan, result));
}

}  // namespace emu::isa::EMU_ISA_SET
