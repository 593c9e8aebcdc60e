#include "units/block_scale_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "units/mma_arithmetic.h"

namespace emu::units {
namespace {

/// significand * 2^exponent.
struct Term {
  double significand;
  int exponent;
};

/// A zero counts with `floor`.
Term term_of(float value, int least, int floor) {
  if (value == 0) {
    return {0, floor};
  }
  const int exponent = std::max(std::ilogb(value), least);
  return {std::ldexp(static_cast<double>(value), -exponent), exponent};
}

std::uint32_t truncated_sum(std::span<const Term> terms, int alignment_bits) {
  int top = terms[0].exponent;
  for (const Term& term : terms) {
    top = std::max(top, term.exponent);
  }
  std::int64_t total = 0;
  for (const Term& term : terms) {
    total += static_cast<std::int64_t>(std::ldexp(term.significand, term.exponent - top + alignment_bits));
  }
  return truncated_f32(total, top - alignment_bits);
}

/// The sum of what is not finite, in which infinities of both signs and infinity times zero make NaN.
float special_sum(std::span<const float> a, std::span<const float> b, float c) {
  float sum = std::isfinite(c) ? 0 : c;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      sum += a[i] * b[i];
    }
  }
  return sum;
}

}  // namespace

std::uint32_t truncated_f32(std::int64_t total, int unit) {
  if (total == 0) {
    return 0;
  }
  const std::uint32_t sign = total < 0 ? 0x80000000u : 0;
  const auto magnitude = static_cast<std::uint64_t>(total < 0 ? -total : total);
  const int leading = std::bit_width(magnitude) - 1 + unit;
  if (leading > 127) {
    return sign | 0x7F800000u;
  }
  const int exponent = std::max(-126, leading);
  const int drop = exponent - 23 - unit;
  const std::uint64_t significand = drop >= 64 ? 0 : drop >= 0 ? magnitude >> drop : magnitude << -drop;
  return sign |
         ((static_cast<std::uint32_t>(exponent + 126) << 23) + static_cast<std::uint32_t>(significand));
}

std::uint32_t mma_element_scaled(std::span<const float> a, int a_least, ScaleFactor a_scale,
                                 std::span<const float> b, int b_least, ScaleFactor b_scale,
                                 std::uint32_t c_bits) {
  const float c = std::bit_cast<float>(c_bits);
  const float special = special_sum(a, b, c);
  if (std::isnan(special) || std::isnan(a_scale.significand) || std::isnan(b_scale.significand)) {
    return kMmaNan;
  }
  if (special != 0) {
    return std::bit_cast<std::uint32_t>(special);
  }
  std::vector<Term> terms = {term_of(c, -126, kExponentFloor)};
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != 0 && b[i] != 0) {
      const Term x = term_of(a[i], a_least, 0);
      const Term y = term_of(b[i], b_least, 0);
      terms.push_back(
          {x.significand * y.significand, x.exponent + y.exponent + a_scale.exponent + b_scale.exponent});
    } else {
      terms.push_back({0, kExponentFloor});
    }
  }
  return truncated_sum(terms, kAlignmentBits);
}

std::uint32_t mma_element_fp4(std::span<const float> a, std::span<const ScaleFactor> a_scales,
                              std::span<const float> b, std::span<const ScaleFactor> b_scales,
                              std::uint32_t c_bits) {
  const float c = std::bit_cast<float>(c_bits);
  std::vector<Term> terms;
  bool nan = std::isnan(c);
  for (std::size_t block = 0; block < a_scales.size(); ++block) {
    double sum = 0;
    bool all_zero = true;
    for (std::size_t i = block * kFp4BlockDepth; i < (block + 1) * kFp4BlockDepth; ++i) {
      sum += a[i] * b[i];
      all_zero &= a[i] * b[i] == 0;
    }
    const float scale = a_scales[block].significand * b_scales[block].significand;
    nan |= std::isnan(scale);
    const int exponent = a_scales[block].exponent + b_scales[block].exponent;
    terms.push_back({sum * scale, all_zero || scale == 0 ? kFp4ExponentFloor : exponent});
  }
  if (nan) {
    return kMmaNan;
  }
  if (std::isinf(c)) {
    return c_bits;
  }
  terms.push_back(term_of(c, -126, kFp4ExponentFloor));
  return truncated_sum(terms, kFp4AlignmentBits);
}

}  // namespace emu::units
