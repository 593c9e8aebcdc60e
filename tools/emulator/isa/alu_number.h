// Scalar building blocks of floating-point instructions, branch-free so that loops over lanes vectorise.
#pragma once

#include <cmath>

#include "isa/alu_lanes.h"

namespace emu::isa::EMU_ISA_SET {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up };
// Number of an alternative of (.rn,.rz,.rm,.rp), and of {.rn,.rz,.rm,.rp} where none means .rn.
constexpr Rounding rounding(size_t n) { return static_cast<Rounding>(n); }
constexpr Rounding rounding_or_nearest(size_t n) { return n == 0 ? Rounding::Nearest : rounding(n - 1); }

constexpr u32 kCanonicalNan = 0x7fffffff;  // every f32 instruction that makes a NaN makes this one

EMU_INLINE u32 bits(float x) { return bits_as<u32>(x); }
EMU_INLINE u64 bits(double x) { return bits_as<u64>(x); }
EMU_INLINE float as_float(u32 x) { return bits_as<float>(x); }
EMU_INLINE double as_double(u64 x) { return bits_as<double>(x); }

// .ftz: a subnormal becomes a zero of its sign.
template <bool kFlush>
EMU_INLINE float flush(float x) {
  if constexpr (!kFlush) return x;
  const u32 u = bits(x);
  return as_float((u & 0x7f800000) != 0 ? u : u & 0x80000000);
}
EMU_INLINE float canonical(float x) { return x == x ? x : as_float(kCanonicalNan); }
EMU_INLINE double canonical(double x) { return x; }
// .sat: clamp to [0, 1], NaN to +0.
template <typename T>
EMU_INLINE T saturate(T x) {
  const T positive = x > T(0) ? x : T(0);
  return positive < T(1) ? positive : T(1);
}

// Runs `loop`, whose inputs lie in the lane file and whose outputs lie in `result`, under a rounding mode.
// The barriers keep the compiler from moving loads, arithmetic or stores across the change of mode.
template <Rounding R, typename Loop>
EMU_INLINE void with_rounding(void* result, Loop loop) {
  if constexpr (R == Rounding::Nearest) {
    loop();
  } else {
    constexpr u32 kMode[] = {0x0000, 0x6000, 0x2000, 0x4000};
    const u32 saved = _mm_getcsr();
    _mm_setcsr((saved & ~0x6000u) | kMode[static_cast<int>(R)]);
    asm volatile("" : : "r"(result) : "memory");
    loop();
    asm volatile("" : : "r"(result) : "memory");
    _mm_setcsr(saved);
  }
}

// f64: a NaN operand is handed on, quiet, with sign and payload: the second before the third before the
// first.
EMU_INLINE double quiet(double x) { return as_double(bits(x) | u64{1} << 51); }
template <int kSources>
EMU_INLINE double chosen_nan(double x, double y, double z, double result) {
  result = x != x ? quiet(x) : result;
  if (kSources > 2) result = z != z ? quiet(z) : result;
  return y != y ? quiet(y) : result;
}

EMU_INLINE float half_to_float(u32 half) {
  const u32 magnitude = (half & 0x7fff) << 13;
  const u32 scaled = bits(as_float(magnitude) * 0x1p112f);  // rebias, subnormals included
  const u32 special = magnitude >= 0x0f800000 ? 0x7f800000u : 0u;
  return as_float(scaled | special | (half & 0x8000) << 16);
}
EMU_INLINE float bfloat_to_float(u32 value) { return as_float(value << 16); }

// Round to nearest even into a format with kExponent and kMantissa bits and IEEE specials; NaN becomes all
// ones without sign.
template <int kExponent, int kMantissa>
EMU_INLINE u32 encode_ieee(float x) {
  constexpr int kShift = 23 - kMantissa;
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr u32 kInfinity = ((1u << kExponent) - 1) << kMantissa;
  constexpr u32 kRebias = static_cast<u32>(127 - kBias) << 23;
  constexpr u32 kSmallestNormal = static_cast<u32>(127 - kBias + 1) << 23;
  constexpr u32 kTooLarge = static_cast<u32>(127 + kBias + 1) << 23;
  const u32 u = bits(x);
  const u32 magnitude = u & 0x7fffffff;
  const u32 normal = (magnitude - kRebias + ((1u << (kShift - 1)) - 1) + (magnitude >> kShift & 1)) >> kShift;
  // Adding 2^(23 - quantum) makes the adder round to the subnormal quantum.
  constexpr u32 kMagic = static_cast<u32>(127 - kBias + 1 - kMantissa + 23) << 23;
  const u32 subnormal = bits(as_float(magnitude) + as_float(kMagic)) - kMagic;
  u32 result = magnitude < kSmallestNormal ? subnormal : normal;
  result = magnitude >= kTooLarge ? kInfinity : result;
  result |= (u >> 31) << (kExponent + kMantissa);
  return magnitude > 0x7f800000 ? (1u << (kExponent + kMantissa)) - 1 : result;
}
EMU_INLINE u32 float_to_half(float x) { return encode_ieee<5, 10>(x); }
EMU_INLINE u32 float_to_bfloat(float x) {
  const u32 u = bits(x);
  const u32 rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded;
}

// 16-bit floats: arithmetic happens on the float that equals them.
struct F16 {};
struct Bf16 {};
template <>
struct Lane<F16> {
  using Value = float;
  using Word = u32;
  static EMU_INLINE float read(u32 word) { return half_to_float(word & 0xffff); }
  static EMU_INLINE u32 write(float value) { return float_to_half(value); }
};
template <>
struct Lane<Bf16> {
  using Value = float;
  using Word = u32;
  static EMU_INLINE float read(u32 word) { return bfloat_to_float(word & 0xffff); }
  static EMU_INLINE u32 write(float value) { return float_to_bfloat(value); }
};

// The sum rounded to odd: inexact results have their last bit set, so that rounding once more to a format at
// least two bits shorter gives the correctly rounded sum.
template <typename T>
EMU_INLINE T odd_sum(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 8, u64, u32>;
  const T sum = a + b;
  const T b_part = sum - a;
  const T error = (a - (sum - b_part)) + (b - b_part);
  const U u = bits_as<U>(sum);
  const U opposite = (bits_as<U>(sum) ^ bits_as<U>(error)) >> (sizeof(T) * 8 - 1);
  const bool inexact = error < 0 || error > 0;
  return bits_as<T>(inexact ? ((u - opposite) | 1) : u);
}

// A double to float, rounded to odd. Overflow gives the largest finite value.
EMU_INLINE float odd_float(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const u32 u = bits(nearest);
  const u32 truncated = u - (std::fabs(back) > std::fabs(x) ? 1u : 0u);
  const bool inexact = back < x || back > x;
  return as_float(inexact ? truncated | 1 : u);
}

}  // namespace emu::isa::EMU_ISA_SET
