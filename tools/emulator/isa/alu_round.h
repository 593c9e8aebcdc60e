// Rounding a double to a narrower format, with any rounding mode and clamp, one lane at a time.
#pragma once

#include "isa/alu_number.h"

namespace emu::isa::EMU_ISA_SET {

enum class RoundTo : uint8_t { Nearest, Zero, Down, Up, NearestAway };

template <RoundTo R>
EMU_INLINE double round_integral(double x) {
  switch (R) {
    case RoundTo::Nearest:
      return __builtin_rint(x);
    case RoundTo::Zero:
      return __builtin_trunc(x);
    case RoundTo::Down:
      return __builtin_floor(x);
    case RoundTo::Up:
      return __builtin_ceil(x);
    case RoundTo::NearestAway: {
      const double down = __builtin_trunc(x);
      const double rest = std::fabs(x - down);
      return down + (rest >= 0.5 ? __builtin_copysign(1.0, x) : 0.0);
    }
  }
}

// Rounds x to kMantissa fraction bits with smallest normal exponent kMinExponent. Overflow gives infinity, or
// the largest finite value where the mode rounds towards it. NaN and infinity pass.
template <RoundTo R, int kMantissa, int kMinExponent, int kMaxExponent>
EMU_INLINE double round_value(double x) {
  constexpr u64 kLowest = 1023 + kMinExponent;
  u64 exponent = bits(x) >> 52 & 0x7ff;
  exponent = exponent > kLowest ? exponent : kLowest;
  const double up = as_double((2046 + kMantissa - exponent) << 52);
  const double down = as_double((exponent - kMantissa) << 52);
  const double rounded = round_integral<R>(x * up) * down;
  const double largest =
      as_double((u64{1023 + kMaxExponent} << 52) | (((u64{1} << kMantissa) - 1) << (52 - kMantissa)));
  const double infinity = as_double(0x7ff0000000000000);
  const double magnitude = std::fabs(rounded);
  constexpr bool kNearest = R == RoundTo::Nearest || R == RoundTo::NearestAway;
  const bool to_infinity = kNearest || (R == RoundTo::Up && x > 0) || (R == RoundTo::Down && x < 0);
  const double overflow = to_infinity ? infinity : largest;
  const bool overflows = (magnitude > largest) & (std::fabs(x) < infinity);
  return __builtin_copysign(overflows ? overflow : magnitude, x);
}

template <typename T>
struct Narrow;  // kMantissa, exponents, and the bits of an exactly representable float
template <>
struct Narrow<F16> {
  static constexpr int kMantissa = 10, kMinExponent = -14, kMaxExponent = 15;
};
template <>
struct Narrow<Bf16> {
  static constexpr int kMantissa = 7, kMinExponent = -126, kMaxExponent = 127;
};
struct Tf32 {};  // 10 fraction bits in the upper part of a 32-bit register, the rest zero
template <>
struct Narrow<Tf32> {
  static constexpr int kMantissa = 10, kMinExponent = -126, kMaxExponent = 127;
};
template <>
struct Lane<Tf32> {
  using Value = float;
  using Word = u32;
  static EMU_INLINE float read(u32 word) { return as_float(word); }
  static EMU_INLINE u32 write(float value) { return bits(canonical(value)) & 0xffffe000; }
};

template <typename T, RoundTo R>
EMU_INLINE double round_to(double x) {
  return round_value<R, Narrow<T>::kMantissa, Narrow<T>::kMinExponent, Narrow<T>::kMaxExponent>(x);
}
template <typename T>
EMU_INLINE double largest_finite() {
  constexpr u64 kFraction = ((u64{1} << Narrow<T>::kMantissa) - 1) << (52 - Narrow<T>::kMantissa);
  return as_double((u64{1023 + Narrow<T>::kMaxExponent} << 52) | kFraction);
}

// Bits of x rounded to T; .relu makes negative results zero, .satfinite clamps magnitudes to the largest
// finite value. NaN is canonical in either case.
template <typename T, RoundTo R>
EMU_INLINE u32 narrow(double x, bool relu, bool satfinite) {
  double value = round_to<T, R>(x);
  const double largest = largest_finite<T>();
  const double clamped = __builtin_copysign(std::fabs(value) > largest ? largest : std::fabs(value), value);
  value = satfinite & (value == value) ? clamped : value;
  value = relu & (value <= 0) ? 0.0 : value;
  return Lane<T>::write(static_cast<float>(value));
}

}  // namespace emu::isa::EMU_ISA_SET
