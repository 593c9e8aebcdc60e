// The body of the arithmetic kernels, in GCC's vector extensions. Included once by each of
// mma_kernels_{portable,avx2, avx512}.cpp, which are compiled for different instruction sets: so everything
// here has internal linkage, and no inline function of the standard library is called, lest the linker keep
// an AVX-512 copy for everybody.
//
// EMU_KERNEL_BYTES is the width of a vector register.
#pragma once

#if EMU_KERNEL_BYTES > 16
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>

#include "units/mma_kernels.h"
#include "units/tmem.h"

namespace emu::units {
namespace {

constexpr int kWidth = EMU_KERNEL_BYTES / 4;  // f32 in a vector
constexpr int kHalf = kWidth / 2;
constexpr int kVectorsInGroup = kRowGroup / kWidth;

typedef float Floats __attribute__((vector_size(EMU_KERNEL_BYTES)));
typedef std::int32_t Ints __attribute__((vector_size(EMU_KERNEL_BYTES)));
typedef std::uint32_t Words __attribute__((vector_size(EMU_KERNEL_BYTES)));
typedef std::int16_t Shorts __attribute__((vector_size(EMU_KERNEL_BYTES)));
typedef std::int16_t HalfShorts __attribute__((vector_size(EMU_KERNEL_BYTES / 2)));
typedef double Doubles __attribute__((vector_size(EMU_KERNEL_BYTES)));
typedef std::int64_t Longs __attribute__((vector_size(EMU_KERNEL_BYTES)));
typedef float HalfFloats __attribute__((vector_size(EMU_KERNEL_BYTES / 2)));
typedef std::int32_t HalfInts __attribute__((vector_size(EMU_KERNEL_BYTES / 2)));
typedef std::uint32_t HalfWords __attribute__((vector_size(EMU_KERNEL_BYTES / 2)));

constexpr int kAlignment = 25;  // fraction bits kept below the largest exponent
/// Exponents of one row may spread this far before products of f32 leave the normal range.
constexpr int kNarrowSpread = 30;
/// Terms of magnitude below 2^27 that an int32 sums without overflow.
constexpr int kTermsInSum = 8;

template <typename Vector>
inline Vector load(const void* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <typename Vector>
inline void store(void* to, Vector v) {
  std::memcpy(to, &v, sizeof v);
}
template <typename To, typename From>
inline To cast(From v) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &v, sizeof to);
  return to;
}
inline Ints larger(Ints x, Ints y) { return x > y ? x : y; }
inline Ints smaller(Ints x, Ints y) { return x < y ? x : y; }
/// Whether any lane of a comparison's result is set.
inline bool any(Ints mask) {
#if EMU_KERNEL_BYTES == 64
  return _mm512_test_epi32_mask(cast<__m512i>(mask), cast<__m512i>(mask)) != 0;
#elif EMU_KERNEL_BYTES == 32
  return !_mm256_testz_si256(cast<__m256i>(mask), cast<__m256i>(mask));
#else
  const Longs pairs = cast<Longs>(mask);
  return (pairs[0] | pairs[1]) != 0;
#endif
}

// ---- preparation
// ----------------------------------------------------------------------------------------------------

void prepare(const PackedOperand& operand, AlignedOperand& out) {
  const int padded = operand.stride;
  const std::size_t size = static_cast<std::size_t>(padded) * operand.depth;
  out.scaled.resize(size);
  out.exponents.resize(size);
  out.norm.resize(padded);
  out.wide.resize(padded);
  out.special.resize(padded);
  out.any_wide = out.any_special = false;
  const int least = operand.least_exponent;
  for (int i = 0; i < operand.count; i += kWidth) {
    Ints highest = Ints{} + kZeroExponent;
    Ints lowest = Ints{} + 128;
    Ints special = {};
    for (int k = 0; k < operand.depth; ++k) {
      const Ints bits = load<Ints>(&operand.values[k * padded + i]);
      const Ints field = (bits >> 23) & 0xFF;
      const Ints is_zero = (bits & 0x7FFFFFFF) == 0;
      const Ints is_special = field == 255;
      const Ints exponent = larger(field - 127, Ints{} + least);
      const Ints counted = (is_zero | is_special) ? Ints{} + kZeroExponent : exponent;
      special |= is_special;
      highest = larger(highest, counted);
      lowest = smaller(lowest, (is_zero | is_special) ? Ints{} + 128 : exponent);
      store(&out.exponents[k * padded + i], __builtin_convertvector(counted, HalfShorts));
    }
    const Ints norm = smaller(larger(highest, Ints{} - 126), Ints{} + 126);
    const Ints wide = lowest < norm - kNarrowSpread;
    const Floats factor = cast<Floats>((127 - norm) << 23);
    for (int k = 0; k < operand.depth; ++k) {
      const Floats value = load<Floats>(&operand.values[k * padded + i]);
      const Ints is_special = (cast<Ints>(value) & 0x7F800000) == 0x7F800000;
      store(&out.scaled[k * padded + i], cast<Floats>(cast<Ints>(value * factor) & ~is_special));
    }
    store(&out.norm[i], norm);
    for (int lane = 0; lane < kWidth; ++lane) {
      out.wide[i + lane] = wide[lane] != 0;
      out.special[i + lane] = special[lane] != 0;
    }
    out.any_wide |= any(wide);
    out.any_special |= any(special);
  }
}

// ---- the exact rule
// -------------------------------------------------------------------------------------------------

template <typename Half, typename Whole>
inline Half half_of(Whole v, int which) {
  if constexpr (sizeof(Whole) / sizeof(v[0]) == 32) {
    return which
               ? __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
               : __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  } else if constexpr (sizeof(Whole) / sizeof(v[0]) == 16) {
    return which ? __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)
                 : __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
  } else if constexpr (sizeof(Whole) / sizeof(v[0]) == 8) {
    return which ? __builtin_shufflevector(v, v, 4, 5, 6, 7) : __builtin_shufflevector(v, v, 0, 1, 2, 3);
  } else {
    return which ? __builtin_shufflevector(v, v, 2, 3) : __builtin_shufflevector(v, v, 0, 1);
  }
}

/// GCC 12 splits these conversions in two where AVX-512 has them whole. (Its unmasked forms draw a false
/// warning.)
inline Doubles to_doubles(HalfInts v) {
#if EMU_KERNEL_BYTES == 64
  return cast<Doubles>(_mm512_maskz_cvtepi32_pd(0xFF, cast<__m256i>(v)));
#else
  return __builtin_convertvector(v, Doubles);
#endif
}
inline Longs to_longs(HalfInts v) {
#if EMU_KERNEL_BYTES == 64
  return cast<Longs>(_mm512_maskz_cvtepi32_epi64(0xFF, cast<__m256i>(v)));
#else
  return __builtin_convertvector(v, Longs);
#endif
}
inline Doubles to_doubles(HalfFloats v) {
#if EMU_KERNEL_BYTES == 64
  return cast<Doubles>(_mm512_maskz_cvtps_pd(0xFF, cast<__m256>(v)));
#else
  return __builtin_convertvector(v, Doubles);
#endif
}
inline Ints to_ints(HalfShorts v) {
#if EMU_KERNEL_BYTES == 64
  return cast<Ints>(_mm512_maskz_cvtepi16_epi32(0xFFFF, cast<__m256i>(v)));
#else
  return __builtin_convertvector(v, Ints);
#endif
}

/// The exact sum of a vector's aligned terms, in units of 2^(E - 25); at most 65 terms of 27 bits fit a
/// double easily.
struct Sums {
  Doubles half[2] = {};

  void add(Ints part) {
    half[0] += to_doubles(half_of<HalfInts>(part, 0));
    half[1] += to_doubles(half_of<HalfInts>(part, 1));
  }
};

/// The accumulator aligned to 2^(E - 25), truncated toward zero.
inline Ints aligned_accumulator(Ints bits, Ints field, Ints exponent) {
  const Ints implicit = field != 0;
  const Ints magnitude = ((bits & 0x7FFFFF) | (implicit & 0x800000)) << 2;
  const Ints drop = smaller(exponent - larger(field, Ints{} + 1) + 127, Ints{} + 31);
  const Ints aligned = cast<Ints>(cast<Words>(magnitude) >> cast<Words>(drop));
  const Ints negative = bits >> 31;
  return (aligned ^ negative) - negative;
}

/// Products of f32, exact since both factors were brought near 1, times 2^(25 - E), truncated by the
/// conversion.
inline void add_narrow(Sums& sums, Ints part, const MmaRectangle& r, int row, int column, Ints exponent) {
  const AlignedOperand& a = *r.aligned_a;
  const AlignedOperand& b = *r.aligned_b;
  const Ints norms = load<Ints>(&a.norm[row]) + b.norm[column];
  // Below 2^-40 every product truncates to nothing anyway; the floor keeps denormals out.
  const Ints power = smaller(larger(kAlignment - exponent + norms, Ints{} - 40), Ints{} + 127);
  const Floats unit = cast<Floats>((power + 127) << 23);
  const float* x = &a.scaled[row];
  const float* y = &b.scaled[column];
  for (int k = 0; k < r.a->depth; k += kTermsInSum) {
    for (int i = 0; i < kTermsInSum; ++i, x += r.a->stride, y += r.b->stride) {
      part += __builtin_convertvector(load<Floats>(x) * *y * unit, Ints);
    }
    sums.add(part);
    part = Ints{};
  }
}

/// The same with doubles, whose range no product of two f32 leaves.
inline void add_wide(Sums& sums, Ints part, const MmaRectangle& r, int row, int column, Ints exponent) {
  sums.add(part);
  const float* x = &r.a->values[row];
  const float* y = &r.b->values[column];
  for (int h = 0; h < 2; ++h) {
    const Longs power = to_longs(half_of<HalfInts>(kAlignment - exponent, h));
    const Doubles unit = cast<Doubles>((power + 1023) << 52);
    for (int k = 0; k < r.a->depth; ++k) {
      const HalfFloats factor = load<HalfFloats>(x + k * r.a->stride + h * kHalf);
      const Doubles product = to_doubles(factor) * static_cast<double>(y[k * r.b->stride]);
      const HalfInts aligned = __builtin_convertvector(product * unit, HalfInts);
      sums.half[h] += to_doubles(aligned);
    }
  }
}

/// sum * 2^(E - 25) truncated to f32. Past the largest finite value the conversion gives infinity by itself.
inline HalfInts truncated(Doubles sum, HalfInts exponent) {
  const Longs power = to_longs(exponent) + (1023 - kAlignment);
  const Doubles value = sum * cast<Doubles>(power << 52);
  const Longs bits = cast<Longs>(value);
  const HalfFloats normal = __builtin_convertvector(cast<Doubles>(bits & ~0x1FFFFFFFll), HalfFloats);
  return cast<HalfInts>(normal);
}

/// For |sum * 2^(E - 25)| below 2^-126: a whole number of the smallest subnormal, and the sign.
inline HalfInts truncated_subnormal(Doubles sum, HalfInts exponent) {
  const Longs power = to_longs(exponent) + (1023 - kAlignment + 149);
  const Doubles quanta = sum * cast<Doubles>(power << 52);
  const HalfInts count = __builtin_convertvector(quanta, HalfInts);
  const Longs sign = (cast<Longs>(quanta) >> 63) & 1;
  // In unsigned words, since lanes that are not subnormal hold whatever their conversion gave.
  const HalfWords negative = cast<HalfWords>(count >> 31);
  const HalfInts magnitude = cast<HalfInts>((cast<HalfWords>(count) ^ negative) - negative);
  return magnitude | (__builtin_convertvector(sign, HalfInts) << 31);
}

/// Whether a result may be subnormal: a sum of one unit, 2^(E - 25), below 2^-126.
constexpr int kSafeExponent = -126 + kAlignment;

inline HalfInts rounded(Doubles sum, HalfInts exponent, bool may_be_subnormal) {
  const HalfInts normal = truncated(sum, exponent);
  if (!may_be_subnormal) {
    return normal;
  }
  const Longs power = to_longs(exponent) + (1023 - kAlignment);
  const Longs magnitude = cast<Longs>(sum * cast<Doubles>(power << 52)) & 0x7FFFFFFFFFFFFFFFll;
  const Longs is_small = magnitude < cast<Longs>(Doubles{} + 0x1p-126);
  return __builtin_convertvector(is_small, HalfInts) ? truncated_subnormal(sum, exponent) : normal;
}

inline void write(const MmaRectangle& r, int row, std::uint32_t* lanes, Ints result) {
  const std::uint32_t mask = r.group_mask[row / kRowGroup] >> (row % kRowGroup);
  constexpr std::uint32_t kAll = (std::uint32_t{1} << kWidth) - 1;
  if ((mask & kAll) == kAll) {
    store(lanes, result);
    return;
  }
  for (int i = 0; i < kWidth; ++i) {
    if (mask >> i & 1) {
      lanes[i] = static_cast<std::uint32_t>(result[i]);
    }
  }
}

inline std::uint32_t* lanes_of(const MmaRectangle& r, int row, int column) {
  return r.d + static_cast<std::size_t>(column) * kTmemLanes + r.group_lane[row / kRowGroup] +
         row % kRowGroup;
}

/// kWidth rows of one column. `exponent` is the largest of the products'; the accumulator's joins here.
inline void exact_vector(const MmaRectangle& r, int row, int column, Ints exponent, bool wide) {
  std::uint32_t* lanes = lanes_of(r, row, column);
  const Ints c = r.accumulate ? load<Ints>(lanes) : Ints{};
  const Ints field = (c >> 23) & 0xFF;
  const Ints c_exponent = larger(field, Ints{} + 1) - 127;
  // A zero C raises nothing; the products' largest exponent is above the floor already.
  exponent = (c & 0x7FFFFFFF) == 0 ? exponent : larger(exponent, c_exponent);
  const Ints part = r.accumulate ? aligned_accumulator(c, field, exponent) : Ints{};
  Sums sums;
  if (wide) {
    add_wide(sums, part, r, r.first_row + row, r.first_column + column, exponent);
  } else {
    add_narrow(sums, part, r, r.first_row + row, r.first_column + column, exponent);
  }
  const bool may_be_subnormal = any(exponent < kSafeExponent);
  std::int32_t halves[kWidth];
  for (int h = 0; h < 2; ++h) {
    store(halves + h * kHalf, rounded(sums.half[h], half_of<HalfInts>(exponent, h), may_be_subnormal));
  }
  Ints result = load<Ints>(halves);
  if (const Ints is_special = field == 255; r.accumulate && any(is_special)) {
    const Ints is_nan = (c & 0x7FFFFF) != 0;
    result = is_special ? (is_nan ? Ints{} + 0x7FFFFFFF : c) : result;
  }
  write(r, row, lanes, result);
}

bool any_wide_row(const AlignedOperand& a, int first, int count) {
  std::uint8_t wide = 0;
  for (int i = 0; i < count; ++i) {
    wide |= a.wide[first + i];
  }
  return wide != 0;
}

void exact(const MmaRectangle& r) {
  const AlignedOperand& a = *r.aligned_a;
  const AlignedOperand& b = *r.aligned_b;
  constexpr int kBlock = 2 * kWidth;
  bool wide_rows[kTmemLanes / kBlock];
  for (int row = 0; row < r.rows; row += kBlock) {
    wide_rows[row / kBlock] = a.any_wide && any_wide_row(a, r.first_row + row, kBlock);
  }
  for (int column = 0; column < r.columns; ++column) {
    if (b.special[r.first_column + column]) {
      continue;
    }
    const bool wide_column = b.wide[r.first_column + column];
    for (int row = 0; row < r.rows; row += kBlock) {
      const std::int16_t* x = &a.exponents[r.first_row + row];
      const std::int16_t* y = &b.exponents[r.first_column + column];
      Shorts top = Shorts{} + kExponentFloor;
      for (int k = 0; k < r.a->depth; ++k, x += r.a->stride, y += r.b->stride) {
        const Shorts sum = load<Shorts>(x) + *y;
        top = sum > top ? sum : top;
      }
      for (int h = 0; h < 2; ++h) {
        const Ints exponent = to_ints(half_of<HalfShorts>(top, h));
        exact_vector(r, row + h * kWidth, column, exponent, wide_column || wide_rows[row / kBlock]);
      }
    }
  }
}

// ---- the fast rule
// --------------------------------------------------------------------------------------------------

constexpr int kRowVectors = kWidth == 16 ? 4 : 2;
constexpr int kColumnsAtOnce = 4;

template <int kVectors>
void fast_block(const MmaRectangle& r, int row, int column) {
  Floats sums[kColumnsAtOnce][kVectors] = {};
  if (r.accumulate) {
    for (int j = 0; j < kColumnsAtOnce; ++j) {
      for (int v = 0; v < kVectors; ++v) {
        sums[j][v] = load<Floats>(lanes_of(r, row + v * kWidth, column + j));
      }
    }
  }
  const float* x = &r.a->values[r.first_row + row];
  const float* y = &r.b->values[r.first_column + column];
  for (int k = 0; k < r.a->depth; ++k, x += r.a->stride, y += r.b->stride) {
    for (int v = 0; v < kVectors; ++v) {
      const Floats factor = load<Floats>(x + v * kWidth);
      for (int j = 0; j < kColumnsAtOnce; ++j) {
        sums[j][v] += factor * y[j];
      }
    }
  }
  for (int j = 0; j < kColumnsAtOnce; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      write(r, row + v * kWidth, lanes_of(r, row + v * kWidth, column + j), cast<Ints>(sums[j][v]));
    }
  }
}

template <int kVectors>
void fast_rows(const MmaRectangle& r) {
  for (int column = 0; column < r.columns; column += kColumnsAtOnce) {
    for (int row = 0; row < r.rows; row += kVectors * kWidth) {
      fast_block<kVectors>(r, row, column);
    }
  }
}

void fast(const MmaRectangle& r) {
  if (r.rows % (kRowVectors * kWidth) == 0) {
    fast_rows<kRowVectors>(r);
  } else {
    fast_rows<kRowVectors / 2>(r);  // the 32 rows of layout G
  }
}

}  // namespace
}  // namespace emu::units
