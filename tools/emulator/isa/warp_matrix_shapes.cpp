// mma.sync beside the common shapes: f64, fp8, integers of 4 bits and of 1, eight rows, and the m8n8k4 of
// four lane groups (PTX ISA 9.7.14.5).
#include <iterator>

#include "isa/warp_mma.h"
#include "isa/warp_mma_narrow.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

// e4m3 and e5m2: ptxas widens them to f16 for both sm_90 and sm_100, multiplies the lower halves of all
// registers and then the upper ones (two HMMA that start from zero, each of half the K), and adds C in the
// accumulator's type (SASS; bits of an H200).
template <typename A, typename B, int kK, bool kHalfSum>
void mma_small(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr int kHalf = kK / 2, kSums = kHalfSum ? 2 : 4;
  const Ref* refs_b = instr.wide + kSums + kK / 8;
  const Ref* refs_c = refs_b + kK / 16;
  alignas(64) double a[kM][kK], b[kK][kN], c[kM][kN], sum[kM][kN] = {}, next[kM][kN];
  gather_a<A, kK>(file, instr.wide + kSums, a);
  gather_b<B, kK>(file, refs_b, b);
  for (int part = 0; part < 2; ++part) {
    alignas(64) double part_a[kM][kHalf], part_b[kHalf][kN], scale_a[kM][kHalf], scale_b[kHalf][kN];
    for (int k = 0; k < kHalf; ++k) {
      const int from = k / 8 * 16 + 8 * part + k % 8;  // bytes 2 part and 2 part + 1 as they are gathered
      for (int m = 0; m < kM; ++m) {
        part_a[m][k] = a[m][from];
        scale_a[m][k] = scale<ElementF16::kMinExponent>(a[m][from]);
      }
      for (int n = 0; n < kN; ++n) {
        part_b[k][n] = b[from][n];
        scale_b[k][n] = scale<ElementF16::kMinExponent>(b[from][n]);
      }
    }
    for (int m = 0; m < kM; ++m) multiply_row<kHalf>(part_a[m], part_b, scale_a[m], scale_b, sum[m], next[m]);
    for (int m = 0; m < kM; ++m)
      for (int n = 0; n < kN; ++n)
        sum[m][n] =
            kHalfSum ? half_to_float(float_to_half(odd_float(next[m][n]))) : truncated_float(next[m][n]);
  }
  kHalfSum ? gather_half(file, refs_c, c) : gather_float(file, refs_c, c);
  u32 result[kSums][kLanes];
  for (int r = 0; r < kSums; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      auto total = [&](int row, int column) {
        return static_cast<float>(c[row][column]) + static_cast<float>(sum[row][column]);
      };
      const int row = lane / 4, column = 2 * (lane % 4);
      result[r][lane] = kHalfSum ? float_to_half(total(row + 8 * r, column)) |
                                       float_to_half(total(row + 8 * r, column + 1)) << 16
                                 : bits(canonical(total(row + 8 * (r / 2), column + r % 2)));
    }
  }
  for (int r = 0; r < kSums; ++r) store<u32>(file, instr.wide[r], result[r], active);
}
template <int kK, bool kHalfSum>
constexpr const auto& kMmaSmall = kNumbered<4, []<size_t n>() -> AluFn {
  using A = std::conditional_t<n / 2 == 0, ElementSmall<E4m3>, ElementSmall<E5m2>>;
  using B = std::conditional_t<n % 2 == 0, ElementSmall<E4m3>, ElementSmall<E5m2>>;
  return mma_small<A, B, kK, kHalfSum>;
}>;

template <int kRows, int kA, int kB, int kBits>
constexpr const auto& kMmaNarrow = kNumbered<8, []<size_t n>() -> AluFn {
  return mma_narrow<kRows, kA, kB, kBits, n / 2 % 2 == 1, n % 2 == 1, n / 4 == 1>;
}>;

template <int kRows, int kA, int kB>
constexpr const auto& kMmaBits = kEach<mma_bits<kRows, kA, kB, false>, mma_bits<kRows, kA, kB, true>>;

// m8n8k4 of f16: four products, one for each of the lane groups {4q .. 4q+3, 4q+16 .. 4q+19}. Neither Hopper
// nor Blackwell has it in hardware; ptxas makes it of fused f32 steps from zero in the order of k, and adds C
// last (SASS; bits of an H200).
struct Quad {
  float a[8][4], b[4][8], c[8][8];
};
// Lanes of group q in the order of the rows or columns that they hold.
EMU_INLINE int quad_lane(int q, int i) { return 4 * q + i % 4 + 16 * (i / 4); }
EMU_INLINE float half_at(const LaneFile& file, const Ref* refs, int lane, int i) {
  return half_to_float(file.at<u32>(refs[i / 2])[lane] >> (16 * (i % 2)) & 0xffff);
}
// Row and column of the f32 accumulator i of a lane.
EMU_INLINE int quad_row(int lane, int i) { return (lane & 1) + (i & 2) + 4 * (lane / 16); }
EMU_INLINE int quad_column(int lane, int i) { return (i & 4) + (lane & 2) + (i & 1); }

template <bool kRowA, bool kRowB, bool kHalfC, bool kHalfD>
void mma_quads(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr int kD = kHalfD ? 4 : 8, kC = kHalfC ? 4 : 8;
  const Ref *refs_a = instr.wide + kD, *refs_b = refs_a + 2, *refs_c = refs_b + 2;
  u32 result[kD][kLanes] = {};
  for (int q = 0; q < 4; ++q) {
    Quad quad;
    for (int lane_of = 0; lane_of < 8; ++lane_of) {
      const int lane = quad_lane(q, lane_of), high = lane_of / 4 * 4, low = lane_of % 4;
      for (int i = 0; i < 4; ++i) {
        (kRowA ? quad.a[lane_of][i] : quad.a[high + i][low]) = half_at(file, refs_a, lane, i);
        (kRowB ? quad.b[low][high + i] : quad.b[i][lane_of]) = half_at(file, refs_b, lane, i);
      }
      for (int i = 0; i < 8; ++i) {
        if (kHalfC) {
          quad.c[lane_of][i] = half_at(file, refs_c, lane, i);
        } else {
          quad.c[quad_row(lane, i)][quad_column(lane, i)] = file.at<float>(refs_c[i % kC])[lane];
        }
      }
    }
    auto element = [&](int row, int column) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) sum = __builtin_fmaf(quad.a[row][k], quad.b[k][column], sum);
      return sum + quad.c[row][column];
    };
    for (int lane_of = 0; lane_of < 8; ++lane_of) {
      const int lane = quad_lane(q, lane_of);
      for (int i = 0; i < 8; ++i) {
        if (kHalfD) {
          result[i / 2][lane] |= float_to_half(element(lane_of, i)) << (16 * (i % 2));
        } else {
          result[i % kD][lane] = bits(canonical(element(quad_row(lane, i), quad_column(lane, i))));
        }
      }
    }
  }
  for (int r = 0; r < kD; ++r) store<u32>(file, instr.wide[r], result[r], active);
}
template <bool kHalfC, bool kHalfD>
constexpr const auto& kMmaQuads =
    kEach<mma_quads<true, true, kHalfC, kHalfD>, mma_quads<true, false, kHalfC, kHalfD>,
          mma_quads<false, true, kHalfC, kHalfD>, mma_quads<false, false, kHalfC, kHalfD>>;

constexpr Cost kMmaDouble{CostClass::Fp64, 4};
constexpr Cost kMmaQuadCost{CostClass::Fma, 40};

constexpr AluForm kForms[] = {
    {"mma.sync.aligned.m16n8k32.row.col.f32(.e4m3,.e5m2)(.e4m3,.e5m2).f32", "{ffff}={wwww},{ww},{ffff}", kMma,
     kMmaSmall<32, false>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k16.row.col.f32(.e4m3,.e5m2)(.e4m3,.e5m2).f32", "{ffff}={ww},{w},{ffff}",
     kMmaHalf, kMmaSmall<16, false>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k32.row.col.f16(.e4m3,.e5m2)(.e4m3,.e5m2).f16", "{ww}={wwww},{ww},{ww}", kMma,
     kMmaSmall<32, true>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k16.row.col.f16(.e4m3,.e5m2)(.e4m3,.e5m2).f16", "{ww}={ww},{w},{ww}", kMmaHalf,
     kMmaSmall<16, true>, Kind::AluSync},
    {"mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32(.u8,.s8)(.u8,.s8).s32", "{ww}={w},{w},{ww}", kMmaHalf,
     kMmaNarrow<8, 1, 1, 8>, Kind::AluSync},
    {"mma.sync.aligned.m8n8k32.row.col{.satfinite}.s32(.u4,.s4)(.u4,.s4).s32", "{ww}={w},{w},{ww}", kMma,
     kMmaNarrow<8, 1, 1, 4>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32(.u4,.s4)(.u4,.s4).s32", "{wwww}={ww},{w},{wwww}",
     kMma, kMmaNarrow<16, 2, 1, 4>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k64.row.col{.satfinite}.s32(.u4,.s4)(.u4,.s4).s32", "{wwww}={wwww},{ww},{wwww}",
     kMma, kMmaNarrow<16, 4, 2, 4>, Kind::AluSync},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32(.and,.xor).popc", "{ww}={w},{w},{ww}", kMmaHalf,
     kMmaBits<8, 1, 1>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32(.and,.xor).popc", "{wwww}={ww},{w},{wwww}", kMmaHalf,
     kMmaBits<16, 2, 1>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32(.and,.xor).popc", "{wwww}={wwww},{ww},{wwww}", kMma,
     kMmaBits<16, 4, 2>, Kind::AluSync},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "{dd}={d},{d},{dd}", kMmaDouble,
     kOne<mma_double<8, 1, 1>>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "{dddd}={dd},{d},{dddd}", kMmaDouble,
     kOne<mma_double<16, 2, 1>>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
     "{dddd}={dddd},{dd},{dddd}",
     {CostClass::Fp64, 8},
     kOne<mma_double<16, 4, 2>>,
     Kind::AluSync},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
     "{dddd}={dddddddd},{dddd},{dddd}",
     {CostClass::Fp64, 16},
     kOne<mma_double<16, 8, 4>>,
     Kind::AluSync},
    {"mma.sync.aligned.m8n8k4(.row,.col)(.row,.col).f32.f16.f16.f32", "{ffffffff}={ww},{ww},{ffffffff}",
     kMmaQuadCost, kMmaQuads<false, false>, Kind::AluSync},
    {"mma.sync.aligned.m8n8k4(.row,.col)(.row,.col).f32.f16.f16.f16", "{ffffffff}={ww},{ww},{wwww}",
     kMmaQuadCost, kMmaQuads<true, false>, Kind::AluSync},
    {"mma.sync.aligned.m8n8k4(.row,.col)(.row,.col).f16.f16.f16.f16", "{wwww}={ww},{ww},{wwww}", kMmaQuadCost,
     kMmaQuads<true, true>, Kind::AluSync},
};
}  // namespace

extern const FormTable kMatrixShapeForms;
const FormTable kMatrixShapeForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
