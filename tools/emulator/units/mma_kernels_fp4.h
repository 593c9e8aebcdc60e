// The exact kernel of kinds mxf4 and mxf4nvf4, a continuation of mma_kernels_impl.h under the same rules. The
// arithmetic is that of mma_element_fp4 (units/block_scale_arithmetic.h): 16 products of a block are summed
// exactly, scaled, and aligned by the exponents of their scale factors alone.
#pragma once

#include "units/mma_kernels_impl.h"

namespace emu::units {
namespace {

constexpr int kFp4Alignment = 35;  // fraction bits kept below the largest exponent
constexpr int kFp4Blocks = kFp4Depth / kFp4BlockDepth;

inline Doubles toward_zero(Doubles v) {
#if EMU_KERNEL_BYTES == 64
  return cast<Doubles>(
      _mm512_maskz_roundscale_pd(0xFF, cast<__m512d>(v), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#elif EMU_KERNEL_BYTES == 32
  return cast<Doubles>(_mm256_round_pd(cast<__m256d>(v), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  const Longs whole = __builtin_convertvector(v, Longs);
  const Doubles exact = __builtin_convertvector(whole, Doubles);
  return v == v ? exact : v;  // NaN stays
#endif
}

inline Doubles power_of_two(HalfInts exponent) { return cast<Doubles>((to_longs(exponent) + 1023) << 52); }

/// kWidth rows of one block: their scaled sums of products, below 2^12, and exponents.
struct Fp4Terms {
  Floats scaled;
  Ints exponent;
};

inline Fp4Terms fp4_block(const MmaRectangle& r, int block, int row, int column, Ints& top, Ints& nan) {
  const Fp4Operand& a = *r.fp4_a;
  const Fp4Operand& b = *r.fp4_b;
  const int a_stride = a.values->stride;
  const int b_stride = b.values->stride;
  const float* x = &a.values->values[block * kFp4BlockDepth * a_stride + row];
  const float* y = &b.values->values[block * kFp4BlockDepth * b_stride + column];
  Floats dot = {};
  for (int i = 0; i < kFp4BlockDepth; ++i, x += a_stride, y += b_stride) {
    dot += load<Floats>(x) * *y;
  }
  const int at_a = block * a.scales.stride + row;
  const int at_b = block * b.scales.stride + column;
  const Floats scale = load<Floats>(&a.scales.significands[at_a]) * b.scales.significands[at_b];
  const Ints exponent = load<Ints>(&a.scales.exponents[at_a]) + b.scales.exponents[at_b];
  const Ints counts = ((load<Ints>(&a.nonzero[at_a]) & b.nonzero[at_b]) != 0) & (Ints)(scale != Floats{});
  top = counts ? larger(top, exponent) : top;
  nan |= (Ints)(scale != scale);
  return {dot * scale, exponent};
}

void exact_fp4_vector(const MmaRectangle& r, int row, int column) {
  std::uint32_t* lanes = lanes_of(r, row, column);
  const Ints c = r.accumulate ? load<Ints>(lanes) : Ints{};
  const Ints field = (c >> 23) & 0xFF;
  const Ints no_c = (c & 0x7FFFFFFF) == 0;
  Ints top = no_c ? Ints{} + kFp4ExponentFloor : larger(field, Ints{} + 1) - 127;
  Ints nan = {};
  Fp4Terms terms[kFp4Blocks];
  for (int block = 0; block < kFp4Blocks; ++block) {
    terms[block] = fp4_block(r, block, r.first_row + row, r.first_column + column, top, nan);
  }
  // `rounded` takes sums in units of 2^(exponent - kAlignment).
  const Ints unit = top - (kFp4Alignment - kAlignment);
  const bool may_be_subnormal = any(unit < kSafeExponent);
  std::int32_t halves[kWidth];
  for (int h = 0; h < 2; ++h) {
    Doubles sum = toward_zero(to_doubles(half_of<HalfFloats>(cast<Floats>(c), h)) *
                              power_of_two(half_of<HalfInts>(kFp4Alignment - top, h)));
    for (const Fp4Terms& term : terms) {
      const HalfInts power = half_of<HalfInts>(kFp4Alignment + term.exponent - top, h);
      sum += toward_zero(to_doubles(half_of<HalfFloats>(term.scaled, h)) * power_of_two(power));
    }
    store(halves + h * kHalf, rounded(sum, half_of<HalfInts>(unit, h), may_be_subnormal));
  }
  Ints result = load<Ints>(halves);
  const Ints c_is_nan = (c & 0x7FFFFFFF) > 0x7F800000;
  result = field == 255 ? c : result;
  result = (nan | c_is_nan) != 0 ? Ints{} + 0x7FFFFFFF : result;
  write(r, row, lanes, result);
}

void exact_fp4(const MmaRectangle& r) {
  for (int column = 0; column < r.columns; ++column) {
    for (int row = 0; row < r.rows; row += kWidth) {
      exact_fp4_vector(r, row, column);
    }
  }
}

}  // namespace
}  // namespace emu::units
