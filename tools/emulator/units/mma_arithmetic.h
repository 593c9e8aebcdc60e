// The value of one output element of one tcgen05.mma, bit for bit, written for reading rather than speed.
//
// The rule is the one MMA-Sim (arXiv 2511.10909) publishes for Blackwell: exact products, aligned to the
// largest exponent and truncated there, summed exactly, truncated to f32. Zeros count with an exponent of
// -133, below which no terms are aligned (MMA-Sim's later revisions; arXiv 2512.07004 found the same bound).
// Vectors recorded on a B200 confirm all but that bound for tf32, bf16 and f16. MMA-Sim uses it for e4m3 and
// e5m2 too, all 32 terms in one sum; for the 6- and 4-bit types it is extrapolated here.
#pragma once

#include <cstdint>
#include <span>

#include "units/instruction_descriptor.h"

namespace emu::units {

inline constexpr std::uint32_t kMmaNan = 0x7FFFFFFFu;
inline constexpr std::uint16_t kMmaNanF16 = 0x7FFFu;
/// Fraction bits kept below the largest exponent when the terms are aligned.
inline constexpr int kAlignmentBits = 25;

/// One element as an f32 with the same value; `bits` holds it in its low bits. Exact for every type. tf32
/// drops its 13 low bits here, so that 0x7F800001 is an infinity. Integers are not converted: throws
/// TensorError.
float element_value(ElementType type, std::uint32_t bits);

/// The exponent a subnormal of the type counts with: -14 for f16, -126 for bf16.
int minimum_exponent(ElementType type);

/// D = C + sum a[i]*b[i] for an f32 accumulator. `a` and `b` hold element_value()s; the minimum exponents are
/// their types'. `c_bits` and the result are f32 words.
std::uint32_t mma_element_f32(std::span<const float> a, int a_minimum_exponent, std::span<const float> b,
                              int b_minimum_exponent, std::uint32_t c_bits);

/// The same sum rounded to nearest even to an f16 accumulator. Published, but no recorded vector covers it.
std::uint16_t mma_element_f16(std::span<const float> a, int a_minimum_exponent, std::span<const float> b,
                              int b_minimum_exponent, std::uint16_t c_bits);

/// Exact integer sum; wraps modulo 2^32, or clamps to the s32 range when `saturate`.
std::int32_t mma_element_s32(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int32_t c,
                             bool saturate);

/// C * 2^-shift for the scale-input-d operand (shift 0..15), truncated where the result is subnormal.
std::uint32_t scaled_accumulator(std::uint32_t c_bits, int shift);

}  // namespace emu::units
