// Products of one warp whose elements are f64, 4-bit or 1-bit, or that have eight rows: mma.sync and wmma
// share them.
#pragma once

#include "isa/alu_number.h"

namespace emu::isa::EMU_ISA_SET {
namespace {

// Lane 4g + t: register r of A holds row g (+8 for odd r of sixteen rows), from column kElements (t + 4 r')
// on, where r' counts registers of a row; register r of B column g and the same rows. Register 2q + i of D
// and C holds row g + 8q and column 2t + i.
template <int kRows, int kA>
EMU_INLINE u32 a_word(const u32* const (&a)[kA], int row, int k_word) {
  return a[kRows == 8 ? k_word / 4 : k_word / 4 * 2 + row / 8][row % 8 * 4 + k_word % 4];
}
template <int kB>
EMU_INLINE u32 b_word(const u32* const (&b)[kB], int k_word, int column) {
  return b[k_word / 4][4 * column + k_word % 4];
}

// Calls product(word of A, word of B) for each word of K; `finish` makes the result of the sum and C.
template <int kRows, int kA, int kB, typename Product, typename Finish>
EMU_INLINE void mma_words(const LaneFile& file, const Instr& instr, LaneMask active, Product product,
                          Finish finish) {
  constexpr int kSums = kRows / 4;
  const Ref* refs = instr.wide;  // D, A, B, C: in wide even where they would fit without
  Ref near[8];
  if (refs == nullptr) {
    near[0] = instr.dst[0], near[1] = instr.dst[1];
    for (int i = 0; i < 4; ++i) near[2 + i] = instr.src[i];
    refs = near;
  }
  const u32 *a[kA], *b[kB];
  for (int r = 0; r < kA; ++r) a[r] = file.at<u32>(refs[kSums + r]);
  for (int r = 0; r < kB; ++r) b[r] = file.at<u32>(refs[kSums + kA + r]);
  u32 result[kSums][kLanes];
  for (int r = 0; r < kSums; ++r) {
    const u32* c = file.at<u32>(refs[kSums + kA + kB + r]);
    for (int lane = 0; lane < kLanes; ++lane) {
      s64 sum = 0;
      for (int word = 0; word < 4 * kB; ++word)
        sum +=
            product(a_word<kRows>(a, lane / 4 + 8 * (r / 2), word), b_word(b, word, 2 * (lane % 4) + r % 2));
      result[r][lane] = finish(sum, static_cast<s32>(c[lane]));
    }
  }
  for (int r = 0; r < kSums; ++r) store<u32>(file, refs[r], result[r], active);
}

// An element of kBits in the bits from `at`.
template <int kBits, bool kSigned>
EMU_INLINE s32 element_at(u32 word, int at) {
  const s32 high = static_cast<s32>(word << (32 - kBits - at));
  return kSigned ? high >> (32 - kBits) : static_cast<s32>(static_cast<u32>(high) >> (32 - kBits));
}
// `saturates`: the sum of products and C clamps to 32 bits, else it wraps.
template <int kRows, int kA, int kB, int kBits, bool kSignedA, bool kSignedB, bool kSaturates>
void mma_narrow(const LaneFile& file, const Instr& instr, LaneMask active) {
  mma_words<kRows, kA, kB>(
      file, instr, active,
      [](u32 a, u32 b) {
        s64 sum = 0;
        for (int at = 0; at < 32; at += kBits)
          sum += element_at<kBits, kSignedA>(a, at) * element_at<kBits, kSignedB>(b, at);
        return sum;
      },
      [](s64 sum, s32 c) {
        s64 whole = sum + c;
        if (kSaturates) whole = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole;
        return static_cast<u32>(whole);
      });
}
template <int kRows, int kA, int kB, bool kXor>
void mma_bits(const LaneFile& file, const Instr& instr, LaneMask active) {
  mma_words<kRows, kA, kB>(
      file, instr, active,
      [](u32 a, u32 b) { return static_cast<s64>(__builtin_popcount(kXor ? a ^ b : a & b)); },
      [](s64 sum, s32 c) { return static_cast<u32>(sum + c); });
}
// f64: fragments as above with one element a register; fused steps in the order of k.
template <int kRows, int kA, int kB, Rounding kRounding = Rounding::Nearest>
void mma_double(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr int kSums = kRows / 4;
  const Ref* refs = instr.wide;
  Ref near[8];
  if (refs == nullptr) {
    near[0] = instr.dst[0], near[1] = instr.dst[1];
    for (int i = 0; i < 4; ++i) near[2 + i] = instr.src[i];
    refs = near;
  }
  const double *a[kA], *b[kB];
  for (int r = 0; r < kA; ++r) a[r] = file.at<double>(refs[kSums + r]);
  for (int r = 0; r < kB; ++r) b[r] = file.at<double>(refs[kSums + kA + r]);
  u64 result[kSums][kLanes];
  with_rounding<kRounding>(result, [&] {
    for (int r = 0; r < kSums; ++r) {
      const double* c = file.at<double>(refs[kSums + kA + kB + r]);
      for (int lane = 0; lane < kLanes; ++lane) {
        const int row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
        double sum = c[lane];
        for (int k = 0; k < 4 * kB; ++k) {
          const double x = a[kRows == 8 ? k / 4 : k / 4 * 2 + row / 8][row % 8 * 4 + k % 4];
          const double y = b[k / 4][4 * column + k % 4];
          sum = chosen_nan<3>(x, y, sum, __builtin_fma(x, y, sum));
        }
        result[r][lane] = bits(sum);
      }
    }
  });
  for (int r = 0; r < kSums; ++r) store<u64>(file, refs[r], result[r], active);
}

}  // namespace
}  // namespace emu::isa::EMU_ISA_SET
