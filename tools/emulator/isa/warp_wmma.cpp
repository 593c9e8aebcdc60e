// wmma.mma: two mma.sync on tiles of 16 rows and 8 columns, or one of eight rows (PTX ISA 9.7.14.4; SASS of
// sm_90). The fragments are those of mma.sync, so that a tile's operands are a range of the registers: see
// isa/wmma_layout.h.
#include <iterator>

#include "isa/warp_mma.h"
#include "isa/warp_mma_narrow.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

// Results wait here until all tiles are computed: the destination may share registers with the sources. The
// routines of mma.sync reach it as the array of special registers, which are no operands of wmma.
struct Staging {
  alignas(64) u32 words[8 * kLanes];
  LaneFile file;
  explicit Staging(const LaneFile& original) : file(original) {
    file.base[static_cast<int>(Base::Special)] = reinterpret_cast<std::byte*>(words);
  }
  static Ref ref(int i) { return Ref::make(Base::Special, static_cast<u32>(i)); }
  u32* at(int i) { return words + i * kLanes; }
};

// The operands of one mma.sync: D, A, B, C.
struct TileOperands {
  Ref refs[24];
  int count = 0;
  void add(const Ref* from, int n) {
    for (int i = 0; i < n; ++i) refs[count++] = from[i];
  }
};

enum class Sum : uint8_t { F32, F16, S32 };
constexpr int registers_of(Sum sum) { return sum == Sum::F16 ? 4 : 8; }

// A form: accumulators C and D, shape, registers of the fragments A and B, and registers of the operands of
// `routine`, which runs kSteps times over a tile's K.
template <Sum kC, Sum kD, int kRows, int kColumns, int kA, int kB, int kFirst, int kSecond, AluFn routine,
          int kSteps = 1>
void multiply(const LaneFile& file, const Instr& instr, LaneMask active) {
  constexpr bool kSwapped = kRows == 8, kSideBySide = kRows == 16;  // m8n32: the transposed product; m16n16
  constexpr int kFirstStep = kSideBySide ? 0 : kFirst * kSteps,
                kSecondStep = kSideBySide ? kSecond * kSteps : 0;
  constexpr int kRegistersC = registers_of(kC), kRegistersD = registers_of(kD);
  const Ref *a = instr.wide + kRegistersD, *b = a + kA, *c = b + kB;
  const Ref *first = kSwapped ? b : a, *second = kSwapped ? a : b;
  // With one accumulator of each type the product is of f32: C is widened before and D rounded after.
  constexpr bool kMixed = kC != kD;
  constexpr Sum kInner = kMixed ? Sum::F32 : kC;
  constexpr int kTile = registers_of(kInner) / 2;
  Staging staging(file);
  Ref sums[2 * kTile];
  for (int i = 0; i < 2 * kTile; ++i) sums[i] = Staging::ref(i);
  if constexpr (kMixed && kC == Sum::F16) {
    for (int i = 0; i < 8; ++i)
      for (int lane = 0; lane < kLanes; ++lane)
        staging.at(i)[lane] = bits(half_to_float(file.at<u32>(c[i / 2])[lane] >> (16 * (i % 2)) & 0xffff));
    c = sums;
  }
  for (int tile = 0; tile < 2; ++tile) {
    for (int step = 0; step < kSteps; ++step) {
      TileOperands operands;
      operands.add(sums + tile * kTile, kTile);
      operands.add(first + tile * kFirstStep + step * kFirst, kFirst);
      operands.add(second + tile * kSecondStep + step * kSecond, kSecond);
      operands.add((step == 0 ? c : sums) + tile * kTile, kTile);
      Instr one;
      one.wide = operands.refs;
      routine(staging.file, one, ~LaneMask{0});
    }
  }
  for (int r = 0; r < kRegistersD; ++r) {
    if constexpr (kMixed && kD == Sum::F16) {
      u32* pair = staging.at(2 * r);
      for (int lane = 0; lane < kLanes; ++lane)
        pair[lane] = float_to_half(as_float(pair[lane])) | float_to_half(as_float(pair[kLanes + lane])) << 16;
      store<u32>(file, instr.wide[r], pair, active);
    } else {
      store<u32>(file, instr.wide[r], staging.at(r), active);
    }
  }
  static_assert(kRegistersC == 4 || kRegistersC == 8);
}

template <Sum kC, Sum kD, int kRows, int kColumns>
constexpr AluFn kHalf = multiply<kC, kD, kRows, kColumns, 8, 8, 4, 2,
                                 mma<ElementF16, ElementF16, 16, kC == Sum::F16 && kD == Sum::F16>>;
template <int kRows, int kColumns, int kA, int kB>
constexpr AluFn kBfloat =
    multiply<Sum::F32, Sum::F32, kRows, kColumns, kA, kB, 4, 2, mma<ElementBf16, ElementBf16, 16, false>>;
// The unit takes tf32 in steps of K = 4.
constexpr AluFn kTf32 =
    multiply<Sum::F32, Sum::F32, 16, 16, 4, 4, 2, 1, mma<ElementTf32, ElementTf32, 4, false>, 2>;
template <typename E, bool kSaturates>
void bytes(const LaneFile& file, const Instr& instr, LaneMask active) {
  mma_integer<E, E, 16>(file, instr, active, kSaturates);
}
// Alternatives: layouts (four), type, .satfinite.
template <int kRows, int kColumns, int kA, int kB>
constexpr const auto& kBytes = kNumbered<16, []<size_t n>() -> AluFn {
  using E = ElementInteger<std::conditional_t<n / 2 % 2 == 0, uint8_t, int8_t>>;
  return multiply<Sum::S32, Sum::S32, kRows, kColumns, kA, kB, 2, 1, bytes<E, n % 2 == 1>>;
}>;
constexpr const auto& kNibbles = kNumbered<4, []<size_t n>() -> AluFn {
  return mma_narrow<8, 1, 1, 4, n / 2 == 1, n / 2 == 1, n % 2 == 1>;
}>;
// Alternatives: layouts, rounding.
constexpr const auto& kDoubles =
    kNumbered<20, []<size_t n>() -> AluFn { return mma_double<8, 1, 1, rounding_or_nearest(n % 5)>; }>;

#define EMU_WMMA "wmma.mma.sync.aligned(.row,.col)(.row,.col)"
#define EMU_HALF_ROWS(SHAPE, ROWS, COLUMNS)                                         \
  {EMU_WMMA SHAPE ".f32.f32", "{ffffffff}={wwwwwwww},{wwwwwwww},{ffffffff}", kWmma, \
   kOne<kHalf<Sum::F32, Sum::F32, ROWS, COLUMNS>>, Kind::AluSync},                  \
      {EMU_WMMA SHAPE ".f16.f16", "{wwww}={wwwwwwww},{wwwwwwww},{wwww}", kWmma,     \
       kOne<kHalf<Sum::F16, Sum::F16, ROWS, COLUMNS>>, Kind::AluSync},              \
      {EMU_WMMA SHAPE ".f32.f16", "{ffffffff}={wwwwwwww},{wwwwwwww},{wwww}", kWmma, \
       kOne<kHalf<Sum::F16, Sum::F32, ROWS, COLUMNS>>, Kind::AluSync},              \
  {                                                                                 \
    EMU_WMMA SHAPE ".f16.f32", "{wwww}={wwwwwwww},{wwwwwwww},{ffffffff}", kWmma,    \
        kOne<kHalf<Sum::F32, Sum::F16, ROWS, COLUMNS>>, Kind::AluSync               \
  }

constexpr Cost kWmma{CostClass::TensorSync, 4};
constexpr Cost kWmmaHalf{CostClass::TensorSync, 2};

constexpr AluForm kForms[] = {
    EMU_HALF_ROWS(".m16n16k16", 16, 16),
    EMU_HALF_ROWS(".m32n8k16", 32, 8),
    EMU_HALF_ROWS(".m8n32k16", 8, 32),
    {EMU_WMMA ".m16n16k16.f32.bf16.bf16.f32", "{ffffffff}={wwww},{wwww},{ffffffff}", kWmma,
     kOne<kBfloat<16, 16, 4, 4>>, Kind::AluSync},
    {EMU_WMMA ".m32n8k16.f32.bf16.bf16.f32", "{ffffffff}={wwwwwwww},{ww},{ffffffff}", kWmma,
     kOne<kBfloat<32, 8, 8, 2>>, Kind::AluSync},
    {EMU_WMMA ".m8n32k16.f32.bf16.bf16.f32", "{ffffffff}={ww},{wwwwwwww},{ffffffff}", kWmma,
     kOne<kBfloat<8, 32, 2, 8>>, Kind::AluSync},
    {EMU_WMMA ".m16n16k8.f32.tf32.tf32.f32", "{ffffffff}={wwww},{wwww},{ffffffff}", kWmma, kOne<kTf32>,
     Kind::AluSync},
    {EMU_WMMA ".m16n16k16.s32(.u8.u8,.s8.s8).s32{.satfinite}", "{wwwwwwww}={ww},{ww},{wwwwwwww}", kWmmaHalf,
     kBytes<16, 16, 2, 2>, Kind::AluSync},
    {EMU_WMMA ".m32n8k16.s32(.u8.u8,.s8.s8).s32{.satfinite}", "{wwwwwwww}={wwww},{w},{wwwwwwww}", kWmmaHalf,
     kBytes<32, 8, 4, 1>, Kind::AluSync},
    {EMU_WMMA ".m8n32k16.s32(.u8.u8,.s8.s8).s32{.satfinite}", "{wwwwwwww}={w},{wwww},{wwwwwwww}", kWmmaHalf,
     kBytes<8, 32, 1, 4>, Kind::AluSync},
    {EMU_WMMA ".m8n8k4.f64.f64.f64.f64{.rn,.rz,.rm,.rp}",
     "{dd}={d},{d},{dd}",
     {CostClass::Fp64, 4},
     kDoubles,
     Kind::AluSync},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32(.u4.u4,.s4.s4).s32{.satfinite}", "{ww}={w},{w},{ww}",
     kWmmaHalf, kNibbles, Kind::AluSync},
    {"wmma.mma(.and,.xor).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "{ww}={w},{w},{ww}", kWmmaHalf,
     kEach<mma_bits<8, 1, 1, false>, mma_bits<8, 1, 1, true>>, Kind::AluSync},
};
}  // namespace

extern const FormTable kWmmaForms;
const FormTable kWmmaForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
