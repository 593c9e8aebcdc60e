// The parts of mma.sync that several tables of instructions share: fragments, and the sums of products.
//
// Floating-point model of mma: all products of one instruction's K and the addend are aligned to the largest
// exponent, cut to 25 bits below it, added exactly, and the sum is cut to f32 (f16 accumulators round to
// nearest). A product's exponent is the sum of its factors', also where the significands' product reaches 2;
// a subnormal factor counts with its type's smallest exponent. MMA-Sim (arXiv 2511.10909) publishes the rule,
// and it gives the bits that an H200 does.
#pragma once

#include "isa/alu_number.h"
#include "isa/small_float.h"

namespace emu::isa::EMU_ISA_SET {
namespace {

constexpr int kM = 16, kN = 8;
constexpr cost::Cost kMma{cost::CostClass::TensorSync, 2};
constexpr cost::Cost kMmaHalf{cost::CostClass::TensorSync, 1};

// Elements: how many a register holds and the number that each is.
struct ElementF16 {
  static constexpr int kPerRegister = 2, kMinExponent = -14;
  static EMU_INLINE double value(u32 word, int i) { return half_to_float(word >> (16 * i) & 0xffff); }
};
struct ElementBf16 {
  static constexpr int kPerRegister = 2, kMinExponent = -126;
  static EMU_INLINE double value(u32 word, int i) { return bfloat_to_float(word >> (16 * i) & 0xffff); }
};
struct ElementTf32 {  // the low 13 bits are ignored
  static constexpr int kPerRegister = 1, kMinExponent = -126;
  static EMU_INLINE double value(u32 word, int) { return as_float(word & 0xffffe000); }
};
template <typename F>
struct ElementSmall {
  static constexpr int kPerRegister = 4;
  static EMU_INLINE double value(u32 word, int i) { return small_value<F>(word >> (8 * i) & 0xff); }
};
template <typename T>
struct ElementInteger {
  static constexpr int kPerRegister = 4;
  static EMU_INLINE double value(u32 word, int i) { return static_cast<T>(word >> (8 * i)); }
};

// Lane 4g + t: register r of A holds row g (+8 for odd r), columns from kPerRegister * (t + 4 (r/2));
// register r of B column g and the same rows for r in place of r/2. The order of k does not matter to an
// exact sum, so both are stored with element i of register r of lane t at 4 (kPerRegister r + i) + t, which
// makes rows of four.
template <typename E>
EMU_INLINE void element_values(const u32* source, int i, double* value) {
  for (int lane = 0; lane < kLanes; ++lane) value[lane] = E::value(source[lane], i);
}
template <typename E, int kK>
EMU_INLINE void gather_a(const LaneFile& file, const Ref* refs, double (*a)[kK]) {
  for (int r = 0; r < kK / (2 * E::kPerRegister); ++r) {
    for (int i = 0; i < E::kPerRegister; ++i) {
      double value[kLanes];
      element_values<E>(file.at<u32>(refs[r]), i, value);
      const int k = 4 * (E::kPerRegister * (r / 2) + i);
      for (int group = 0; group < 8; ++group)
        std::memcpy(a[group + 8 * (r % 2)] + k, value + 4 * group, 4 * sizeof(double));
    }
  }
}
template <typename E, int kK>
EMU_INLINE void gather_b(const LaneFile& file, const Ref* refs, double (*b)[kN]) {
  for (int r = 0; r < kK / (4 * E::kPerRegister); ++r) {
    for (int i = 0; i < E::kPerRegister; ++i) {
      double value[kLanes];
      element_values<E>(file.at<u32>(refs[r]), i, value);
      for (int lane = 0; lane < kLanes; ++lane)
        b[4 * (E::kPerRegister * r + i) + lane % 4][lane / 4] = value[lane];
    }
  }
}

// Accumulators: lane 4g + t holds columns 2t, 2t+1 of rows g and g + 8.
EMU_INLINE void gather_float(const LaneFile& file, const Ref* refs, double (*c)[kN]) {
  for (int r = 0; r < 4; ++r) {
    const float* source = file.at<float>(refs[r]);
    for (int lane = 0; lane < kLanes; ++lane)
      c[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2] = source[lane];
  }
}
EMU_INLINE void gather_half(const LaneFile& file, const Ref* refs, double (*c)[kN]) {
  for (int r = 0; r < 2; ++r) {
    const u32* source = file.at<u32>(refs[r]);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < 2; ++i)
        c[lane / 4 + 8 * r][2 * (lane % 4) + i] = half_to_float(source[lane] >> (16 * i) & 0xffff);
  }
}
EMU_INLINE float truncated_float(double x) {
  const float nearest = static_cast<float>(x);
  return as_float(bits(nearest) - (std::fabs(static_cast<double>(nearest)) > std::fabs(x) ? 1 : 0));
}
EMU_INLINE void scatter_float(const LaneFile& file, const Ref* refs, const double (*d)[kN], LaneMask active) {
  for (int r = 0; r < 4; ++r) {
    u32 result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const double x = d[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2];
      result[lane] = bits(canonical(truncated_float(x)));
    }
    store<u32>(file, refs[r], result, active);
  }
}
EMU_INLINE void scatter_half(const LaneFile& file, const Ref* refs, const double (*d)[kN], LaneMask active) {
  for (int r = 0; r < 2; ++r) {
    u32 result[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const double* row = d[lane / 4 + 8 * r];
      const u32 low = float_to_half(odd_float(row[2 * (lane % 4)]));
      result[lane] = low | float_to_half(odd_float(row[2 * (lane % 4) + 1])) << 16;
    }
    store<u32>(file, refs[r], result, active);
  }
}

// Explicit vectors: the compiler unrolls loops over eight columns before it could vectorise them.
#ifdef __AVX512F__
using Columns = __m512d;
EMU_INLINE Columns truncate(Columns x) { return _mm512_maskz_roundscale_pd(0xff, x, 0xb); }
EMU_INLINE Columns larger(Columns x, Columns y) { return _mm512_maskz_max_pd(0xff, x, y); }  // y if x is NaN
#else
using Columns = __m256d;
EMU_INLINE Columns truncate(Columns x) { return _mm256_round_pd(x, 0xb); }
EMU_INLINE Columns larger(Columns x, Columns y) { return _mm256_max_pd(x, y); }
#endif
constexpr int kWidth = sizeof(Columns) / sizeof(double);
typedef s64 ColumnBits __attribute__((vector_size(sizeof(Columns))));

// The power of two that a number's exponent stands for, 0 for 0.
template <int kMinExponent>
EMU_INLINE double scale(double x) {
  constexpr u64 kLeast = static_cast<u64>(1023 + kMinExponent) << 52;
  const u64 exponent = bits(x) & 0x7ff0000000000000;
  return as_double(x == 0 ? 0 : exponent < kLeast ? kLeast : exponent);
}

// `scale_a` and `scale_b` hold scale() of the factors.
template <int kK>
EMU_INLINE void multiply_row(const double* a, const double (*b)[kN], const double* scale_a,
                             const double (*scale_b)[kN], const double* c, double* d) {
  constexpr s64 kKept = 25;
  for (int n = 0; n < kN; n += kWidth) {
    auto magnitude = [](Columns x) { return bits_as<Columns>(bits_as<ColumnBits>(x) & INT64_MAX); };
    Columns addend, product[kK];
    std::memcpy(&addend, c + n, sizeof addend);
    Columns largest = magnitude(addend);
    for (int k = 0; k < kK; ++k) {
      Columns column, column_scale;
      std::memcpy(&column, b[k] + n, sizeof column);
      std::memcpy(&column_scale, scale_b[k] + n, sizeof column_scale);
      product[k] = a[k] * column;
      largest = larger(scale_a[k] * column_scale, largest);
    }
    ColumnBits exponent = bits_as<ColumnBits>(largest) >> 52;  // biased
    exponent =
        exponent > 64 ? exponent : exponent - exponent + 64;  // zeros need no alignment, infinity survives it
    const Columns up = bits_as<Columns>((2046 + kKept - exponent) << 52);
    const Columns down = bits_as<Columns>((exponent - kKept) << 52);
    Columns sum = truncate(addend * up);
    for (int k = 0; k < kK; ++k) sum += truncate(product[k] * up);
    sum *= down;
    std::memcpy(d + n, &sum, sizeof sum);
  }
}

// wide: D, A, B, C.
template <typename A, typename B, int kK, bool kHalfSum>
void mma(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr int kSums = kHalfSum ? 2 : 4;
  const Ref* refs_a = instr.wide + kSums;
  const Ref* refs_b = refs_a + kK / (2 * A::kPerRegister);
  const Ref* refs_c = refs_b + kK / (4 * B::kPerRegister);
  alignas(64) double a[kM][kK], b[kK][kN], c[kM][kN], d[kM][kN];
  gather_a<A, kK>(file, refs_a, a);
  gather_b<B, kK>(file, refs_b, b);
  kHalfSum ? gather_half(file, refs_c, c) : gather_float(file, refs_c, c);
  alignas(64) double scale_a[kM][kK], scale_b[kK][kN];
  for (int m = 0; m < kM; ++m)
    for (int k = 0; k < kK; ++k) scale_a[m][k] = scale<A::kMinExponent>(a[m][k]);
  for (int k = 0; k < kK; ++k)
    for (int n = 0; n < kN; ++n) scale_b[k][n] = scale<B::kMinExponent>(b[k][n]);
  for (int m = 0; m < kM; ++m) multiply_row<kK>(a[m], b, scale_a[m], scale_b, c[m], d[m]);
  kHalfSum ? scatter_half(file, instr.wide, d, active) : scatter_float(file, instr.wide, d, active);
}

// Integer products and sums fit a double exactly; the sum wraps or saturates to 32 bits.
template <typename A, typename B, int kK>
void mma_integer(const LaneFile& file, const Instr& instr, LaneMask active, bool saturates) {
  const Ref* refs_a = instr.wide + 4;
  const Ref* refs_b = refs_a + kK / 8;
  const Ref* refs_c = refs_b + kK / 16;
  double a[kM][kK], b[kK][kN];
  gather_a<A, kK>(file, refs_a, a);
  gather_b<B, kK>(file, refs_b, b);
  u32 result[4][kLanes];
  for (int r = 0; r < 4; ++r) {
    const s32* c = file.at<s32>(refs_c[r]);
    for (int lane = 0; lane < kLanes; ++lane) {
      double sum = c[lane];
      for (int k = 0; k < kK; ++k) sum += a[lane / 4 + 8 * (r / 2)][k] * b[k][2 * (lane % 4) + r % 2];
      s64 whole = static_cast<s64>(sum);
      if (saturates) whole = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole;
      result[r][lane] = static_cast<u32>(whole);
    }
  }
  for (int r = 0; r < 4; ++r) store<u32>(file, instr.wide[r], result[r], active);
}

}  // namespace
}  // namespace emu::isa::EMU_ISA_SET
