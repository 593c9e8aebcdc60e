// The value of one element of a block-scaled tcgen05.mma, bit for bit, written for reading rather than speed.
//
// The rules are those MMA-Sim publishes for Blackwell (arXiv 2511.10909 and its repository, whose authors
// compared them with hardware). No recorded vector of these kinds was at hand to confirm them here.
#pragma once

#include <cstdint>
#include <span>

#include "units/block_scale.h"

namespace emu::units {

/// Fraction bits kept below the largest exponent by kinds mxf4 and mxf4nvf4; kind mxf8f6f4 keeps 25.
inline constexpr int kFp4AlignmentBits = 35;

/// total * 2^unit truncated to f32, at the top to infinity; +0 for a zero total.
std::uint32_t truncated_f32(std::int64_t total, int unit);

/// Kind mxf8f6f4: the rule of the unscaled kinds, in which the exponent of a product includes those of its
/// two scale factors, here the same for all. A NaN factor makes the result NaN.
std::uint32_t mma_element_scaled(std::span<const float> a, int a_least, ScaleFactor a_scale,
                                 std::span<const float> b, int b_least, ScaleFactor b_scale,
                                 std::uint32_t c_bits);

/// Kinds mxf4 and mxf4nvf4: each 16 products are summed exactly and multiplied by the significands of their
/// scale factors. These four terms and C are aligned to the largest exponent, of a term that of its factors
/// alone, truncated there, summed exactly and truncated to f32. Exponents of terms that consist of zeros do
/// not count; a sum that comes out as zero does. `a_scales` and `b_scales`: one for each 16 elements.
std::uint32_t mma_element_fp4(std::span<const float> a, std::span<const ScaleFactor> a_scales,
                              std::span<const float> b, std::span<const ScaleFactor> b_scales,
                              std::uint32_t c_bits);

}  // namespace emu::units
