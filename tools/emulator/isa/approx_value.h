// The approximate functions on one lane, branch-free. All are computed more precisely than the bound the
// manual gives (PTX ISA 9.7.3); exact cases stay exact: ex2 of an integer, lg2 of a power of two, sin 0.
#pragma once

#include "isa/alu_number.h"

namespace emu::isa::EMU_ISA_SET {

// 2^x. x = n + f with f in [-0.5, 0.5]; 2^f by a polynomial (interpolation at Chebyshev nodes, relative error
// 4e-9 before rounding); 2^n by exponent arithmetic, in two factors so that a subnormal result rounds once.
template <bool kFlush>
EMU_INLINE float ex2_value(float x) {
  constexpr float kMagic = 0x1.8p23f;  // adding it rounds to an integer in the low bits
  constexpr float kLowest = kFlush ? -126.0f : -151.0f;
  float clamped = x < kLowest ? kLowest : x;
  clamped = clamped > 129.0f ? 129.0f : clamped;
  const float shifted = clamped + kMagic;
  const float f = clamped - (shifted - kMagic);
  const s32 n = static_cast<s32>(bits(shifted) - bits(kMagic));
  float p = 0.0001545316294512069f;
  p = __builtin_fmaf(p, f, 0.0013390863364671234f);
  p = __builtin_fmaf(p, f, 0.009618082557277852f);
  p = __builtin_fmaf(p, f, 0.05550357114219078f);
  p = __builtin_fmaf(p, f, 0.24022650760568126f);
  p = __builtin_fmaf(p, f, 0.6931471880262288f);
  p = __builtin_fmaf(p, f, 1.0f);
  float result;
  if constexpr (kFlush) {
    // n is -126..129 here: one factor of at most 2^127 and a last doubling or two that may overflow.
    const s32 low = n < 127 ? n : 127;
    const float scaled = p * as_float(static_cast<u32>(low + 127) << 23);
    result = scaled * as_float(static_cast<u32>(n - low + 127) << 23);
    result = x < -126.0f ? 0.0f : result;
  } else {
    const s32 half = n >> 1;
    result =
        p * as_float(static_cast<u32>(half + 127) << 23) * as_float(static_cast<u32>(n - half + 127) << 23);
  }
  return canonical(result);
}

EMU_INLINE double fused_multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }

// log2 in double: x = 2^e * m with m in [sqrt(1/2), sqrt(2)), log2(m) = 2/ln 2 * atanh((m-1)/(m+1)).
template <bool kFlush>
EMU_INLINE float lg2_value(float input) {
  const double x = flush<kFlush>(input);
  const u64 u = bits(x);
  const u64 fraction = u & 0xfffffffffffff;
  const u64 above = fraction > 0x6a09e667f3bcc ? 1 : 0;  // m > sqrt(2): halve it
  const double m = as_double(fraction | (u64{1023} - above) << 52);
  // The exponent as a double without an integer conversion: place it in the mantissa of 2^52.
  const double e = as_double((u >> 52 & 0x7ff) + above + 0x4330000000000000) - (0x1p52 + 1023);
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  constexpr double kTwoOverLn2 = 2.8853900817779268;
  double p = kTwoOverLn2 / 13;
  p = fused_multiply_add(p, z2, kTwoOverLn2 / 11);
  p = fused_multiply_add(p, z2, kTwoOverLn2 / 9);
  p = fused_multiply_add(p, z2, kTwoOverLn2 / 7);
  p = fused_multiply_add(p, z2, kTwoOverLn2 / 5);
  p = fused_multiply_add(p, z2, kTwoOverLn2 / 3);
  p = fused_multiply_add(p, z2, kTwoOverLn2);
  const double finite = fused_multiply_add(p, z, e);
  const float infinity = as_float(0x7f800000);
  float result = static_cast<float>(finite);
  result = x == 0 ? -infinity : result;
  result = x < 0 ? as_float(kCanonicalNan) : result;
  result = input == infinity ? infinity : result;
  return x != x ? as_float(kCanonicalNan) : result;
}

// x = n * pi/2 + r in double with |r| <= pi/4; the manual promises nothing beyond |x| = 100 pi.
struct Reduced {
  double r;
  u64 quadrant;
};
EMU_INLINE Reduced reduce_quadrant(double x) {
  constexpr double kMagic = 0x1.8p52;
  const double bounded = std::fabs(x) < 0x1p48 ? x : 0.0;
  const double shifted = fused_multiply_add(bounded, 0.63661977236758134, kMagic);
  const double n = shifted - kMagic;
  double r = fused_multiply_add(-n, 1.5707963267948966, bounded);
  r = fused_multiply_add(-n, 6.123233995736766e-17, r);
  return {r, bits(shifted) & 3};
}
// sin for quadrant + 0, cos for quadrant + 1.
EMU_INLINE double circular(Reduced x, u64 quarter_turns) {
  const u64 quadrant = x.quadrant + quarter_turns;
  const double r2 = x.r * x.r;
  double s = -1.0 / 39916800;
  s = fused_multiply_add(s, r2, 1.0 / 362880);
  s = fused_multiply_add(s, r2, -1.0 / 5040);
  s = fused_multiply_add(s, r2, 1.0 / 120);
  s = fused_multiply_add(s, r2, -1.0 / 6);
  s = fused_multiply_add(s * r2, x.r, x.r);
  double c = 1.0 / 479001600;
  c = fused_multiply_add(c, r2, -1.0 / 3628800);
  c = fused_multiply_add(c, r2, 1.0 / 40320);
  c = fused_multiply_add(c, r2, -1.0 / 720);
  c = fused_multiply_add(c, r2, 1.0 / 24);
  c = fused_multiply_add(c, r2, -0.5);
  c = fused_multiply_add(c, r2, 1.0);
  const double value = (quadrant & 1) ? c : s;
  return as_double(bits(value) ^ (quadrant & 2) << 62);
}
template <bool kFlush>
EMU_INLINE float sin_value(float x) {
  x = flush<kFlush>(x);
  const float result = static_cast<float>(circular(reduce_quadrant(x), 0));
  // The unit sees x / (2 pi) and flushes it.
  const bool vanishes = std::fabs(static_cast<double>(x)) * 0.15915494309189535 < 0x1p-126;
  const float small = vanishes ? as_float(bits(x) & 0x80000000) : result;
  return std::fabs(x) < as_float(0x7f800000) ? flush<kFlush>(small) : as_float(kCanonicalNan);
}
template <bool kFlush>
EMU_INLINE float cos_value(float x) {
  x = flush<kFlush>(x);
  const float result = static_cast<float>(circular(reduce_quadrant(x), 1));
  return std::fabs(x) < as_float(0x7f800000) ? flush<kFlush>(result) : as_float(kCanonicalNan);
}

// tanh = t / (t + 2) with t = exp(2x) - 1; 2^f - 1 comes from a polynomial without constant term (relative
// error 3e-14), so that small arguments keep their precision.
EMU_INLINE float tanh_value(float input) {
  constexpr double kMagic = 0x1.8p52;
  double x = std::fabs(static_cast<double>(input));
  x = x > 20 ? 20 : x;
  const double scaled = x * 2.8853900817779268;
  const double shifted = scaled + kMagic;
  const double f = scaled - (shifted - kMagic);
  const double power = as_double((bits(shifted) - bits(kMagic) + 1023) << 52);
  double p = 1.0203121063391729e-07;
  p = fused_multiply_add(p, f, 1.3255224878668817e-06);
  p = fused_multiply_add(p, f, 1.525268684626772e-05);
  p = fused_multiply_add(p, f, 0.00015403455852453838);
  p = fused_multiply_add(p, f, 0.0013333558179043112);
  p = fused_multiply_add(p, f, 0.009618129159402558);
  p = fused_multiply_add(p, f, 0.055504108664760424);
  p = fused_multiply_add(p, f, 0.2402265069581299);
  p = fused_multiply_add(p, f, 0.6931471805599453);
  const double t = fused_multiply_add(power * f, p, power - 1);
  const float result = static_cast<float>(t / (t + 2));
  const u32 sign = bits(input) & 0x80000000;
  return input == input ? as_float(bits(result) | sign) : as_float(kCanonicalNan);
}

// 1/sqrt: zeros give the infinity of their sign, negative numbers NaN.
template <bool kFlush>
EMU_INLINE float rsqrt_value(float input) {
  const double x = flush<kFlush>(input);
  const float infinity = as_float(0x7f800000 | (bits(input) & 0x80000000));
  const float result = static_cast<float>(1.0 / __builtin_sqrt(x));
  return canonical(x == 0 ? infinity : result);
}

}  // namespace emu::isa::EMU_ISA_SET
