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
  const float tie = as_float(kMax ? bits(x) & bits(y) : bits(x) | bits(y));
  const float ordered = (kMax ? x > y : x < y) ? x : y;
  const float number = x == y ? tie : ordered;
  const bool x_nan = x != x, y_nan = y != y;
  float result = y_nan ? x : number;
  if (kXorSign) result = as_float(bits(result) | sign);
  const bool nan = kNan ? x_nan | y_nan : x_nan & y_nan;
  return nan ? as_float(kCanonicalNan) : result;
}

}  // namespace emu::isa::EMU_ISA_SET
