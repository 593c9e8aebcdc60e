#include "units/mma_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "units/mma_kernels.h"
#include "units/tmem.h"

namespace emu::units {
namespace {

/// magnitude * 2^(exponent - 23), the magnitude below 2^24. A subnormal of the type keeps the type's least
/// exponent.
struct Number {
  bool negative;
  int exponent;
  std::int64_t magnitude;
};

Number split(float value, int least_exponent) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int field = (bits >> 23) & 0xFF;
  std::int64_t magnitude = bits & 0x7FFFFF;
  int exponent = -126;
  if (field != 0) {
    magnitude |= 0x800000;
    exponent = field - 127;
  }
  if (exponent < least_exponent) {
    magnitude >>= std::min(63, least_exponent - exponent);
    exponent = least_exponent;
  }
  return {(bits >> 31) != 0, exponent, magnitude};
}

/// The exact sum of the aligned terms: total * 2^(exponent - kAlignmentBits). Or what NaNs and infinities
/// make of it.
struct Sum {
  bool nan = false;
  bool infinite = false;
  bool negative = false;  // of the infinity
  std::int64_t total = 0;
  int exponent = 0;
};

/// NaN, infinity times zero and infinities of both signs give NaN.
bool settle_specials(Sum& sum, std::span<const float> a, std::span<const float> b, float c) {
  float verdict = 0;
  const auto add = [&](float term) {
    if (!std::isfinite(term)) {
      verdict += term;
    }
  };
  add(c);
  for (std::size_t i = 0; i < a.size(); ++i) {
    // Two finite factors may overflow a float without being an infinity here.
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      add(a[i] * b[i]);
    }
  }
  sum.nan = std::isnan(verdict);
  sum.infinite = std::isinf(verdict);
  sum.negative = verdict < 0;
  return sum.nan || sum.infinite;
}

Sum fused_sum(std::span<const float> a, int a_least, std::span<const float> b, int b_least, float c,
              int c_least) {
  Sum sum;
  if (settle_specials(sum, a, b, c)) {
    return sum;
  }
  const Number accumulator = split(c, c_least);
  sum.exponent = accumulator.magnitude ? accumulator.exponent : kExponentFloor;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != 0 && b[i] != 0) {
      sum.exponent = std::max(sum.exponent, split(a[i], a_least).exponent + split(b[i], b_least).exponent);
    }
  }
  const auto add = [&](bool negative, std::int64_t magnitude, int exponent_of_unit) {
    if (magnitude == 0) {
      return;  // a zero's own exponent may lie far above the common one
    }
    const int drop = sum.exponent - kAlignmentBits - exponent_of_unit;
    const std::int64_t aligned = drop >= 63 ? 0 : drop >= 0 ? magnitude >> drop : magnitude << -drop;
    sum.total += negative ? -aligned : aligned;
  };
  add(accumulator.negative, accumulator.magnitude, accumulator.exponent - 23);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Number x = split(a[i], a_least);
    const Number y = split(b[i], b_least);
    add(x.negative != y.negative, x.magnitude * y.magnitude, x.exponent + y.exponent - 46);
  }
  return sum;
}

/// Exponent of the sum's leading bit.
int leading_exponent(const Sum& sum, std::uint64_t magnitude) {
  return std::bit_width(magnitude) - 1 + sum.exponent - kAlignmentBits;
}

float f16_value(std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x8000) << 16;
  const std::uint32_t field = (bits >> 10) & 0x1F;
  const std::uint32_t fraction = bits & 0x3FF;
  if (field == 0x1F) {
    return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  }
  const float magnitude = field == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::bit_cast<float>(((field + 112) << 23) | (fraction << 13));
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
}

/// Sign, `exponent_bits` and `fraction_bits` without infinities; e4m3's single NaN is the caller's.
float minifloat_value(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int field = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const int significand = field == 0 ? fraction : fraction + (1 << fraction_bits);
  const float magnitude =
      std::ldexp(static_cast<float>(significand), std::max(field, 1) - bias - fraction_bits);
  return (bits >> (exponent_bits + fraction_bits)) & 1 ? -magnitude : magnitude;
}

float e4m3_value(std::uint32_t bits) {
  return (bits & 0x7F) == 0x7F ? std::numeric_limits<float>::quiet_NaN() : minifloat_value(bits, 4, 3);
}

}  // namespace

float element_value(ElementType type, std::uint32_t bits) {
  switch (type) {
    case ElementType::F16:
      return f16_value(bits & 0xFFFF);
    case ElementType::BF16:
      return std::bit_cast<float>(bits << 16);
    case ElementType::TF32:
      return std::bit_cast<float>(bits & 0xFFFFE000u);
    case ElementType::E4M3:
      return e4m3_value(bits & 0xFF);
    case ElementType::E5M2:
      return f16_value((bits & 0xFF) << 8);
    case ElementType::E2M3:
      return minifloat_value(bits & 0x3F, 2, 3);
    case ElementType::E3M2:
      return minifloat_value(bits & 0x3F, 3, 2);
    case ElementType::E2M1:
      return minifloat_value(bits & 0xF, 2, 1);
    case ElementType::U8:
    case ElementType::S8:
    case ElementType::Invalid:
      break;
  }
  throw TensorError(fmt::format("elements of type {} have no floating-point value", name(type)));
}

int minimum_exponent(ElementType type) {
  switch (type) {
    case ElementType::F16:
    case ElementType::E5M2:
      return -14;
    case ElementType::E4M3:
      return -6;
    case ElementType::E3M2:
      return -2;
    case ElementType::E2M3:
    case ElementType::E2M1:
      return 0;
    default:
      return -126;
  }
}

std::uint32_t mma_element_f32(std::span<const float> a, int a_least, std::span<const float> b, int b_least,
                              std::uint32_t c_bits) {
  const Sum sum = fused_sum(a, a_least, b, b_least, std::bit_cast<float>(c_bits), -126);
  if (sum.nan) {
    return kMmaNan;
  }
  const std::uint32_t sign = (sum.infinite ? sum.negative : sum.total < 0) ? 0x80000000u : 0;
  const auto magnitude = static_cast<std::uint64_t>(std::abs(sum.total));
  if (sum.infinite || (magnitude && leading_exponent(sum, magnitude) > 127)) {
    return sign | 0x7F800000u;
  }
  if (magnitude == 0) {
    return 0;  // never -0, whatever C was
  }
  const int exponent = std::max(-126, leading_exponent(sum, magnitude));
  const int drop = exponent - 23 - (sum.exponent - kAlignmentBits);
  const auto significand = static_cast<std::uint32_t>(drop >= 0 ? magnitude >> drop : magnitude << -drop);
  // A subnormal has no implicit bit, and then exponent field 0 rather than 1.
  return sign | ((static_cast<std::uint32_t>(exponent + 126) << 23) + significand);
}

std::uint16_t mma_element_f16(std::span<const float> a, int a_least, std::span<const float> b, int b_least,
                              std::uint16_t c_bits) {
  const Sum sum = fused_sum(a, a_least, b, b_least, f16_value(c_bits), -14);
  if (sum.nan) {
    return kMmaNanF16;
  }
  const int sign = (sum.infinite ? sum.negative : sum.total < 0) ? 0x8000 : 0;
  const auto magnitude = static_cast<std::uint64_t>(std::abs(sum.total));
  if (sum.infinite || (magnitude && leading_exponent(sum, magnitude) > 15)) {
    return static_cast<std::uint16_t>(sign | 0x7C00);
  }
  if (magnitude == 0) {
    return 0;
  }
  const int exponent = std::max(-14, leading_exponent(sum, magnitude));
  const int drop = exponent - 10 - (sum.exponent - kAlignmentBits);
  std::uint64_t significand = drop >= 63 ? 0 : drop >= 0 ? magnitude >> drop : magnitude << -drop;
  if (drop > 0 && drop < 63) {
    const std::uint64_t rest = magnitude & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    significand += rest > half || (rest == half && (significand & 1));
  }
  // A carry out of the fraction runs into the exponent, at the top into infinity, as it should.
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + static_cast<int>(significand)));
}

std::int32_t mma_element_s32(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int32_t c,
                             bool saturate) {
  std::int64_t sum = c;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::int64_t{a[i]} * b[i];
  }
  if (saturate) {
    sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max());
  }
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
}

std::uint32_t scaled_accumulator(std::uint32_t c_bits, int shift) {
  const std::uint32_t sign = c_bits & 0x80000000u;
  const int field = (c_bits >> 23) & 0xFF;
  if (field == 0xFF || shift == 0) {
    return c_bits;
  }
  if (field > shift) {
    return c_bits - (static_cast<std::uint32_t>(shift) << 23);
  }
  const std::uint32_t significand = (c_bits & 0x7FFFFF) | (field ? 0x800000u : 0);
  return sign | (significand >> (shift - std::max(field, 1) + 1));
}

}  // namespace emu::units
