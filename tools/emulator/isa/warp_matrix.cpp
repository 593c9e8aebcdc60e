// Matrix operations of one warp in the usual shapes: movmatrix and mma.sync (PTX ISA 9.7.14).
#include <iterator>

#include "isa/warp_mma.h"

namespace emu::isa::EMU_ISA_SET {
namespace {
using namespace cost;

// Lane 4r + c/2 holds elements (r, c) and (r, c + 1) of the 8x8 matrix; the result is its transpose.
void move_matrix(const LaneFile& file, const Instr& instr, LaneMask active) {
  const u32* a = file.at<u32>(instr.src[0]);
  auto element = [&](int row, int column) { return a[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff; };
  u32 result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int column = lane / 4, row = 2 * (lane % 4);
    result[lane] = element(row, column) | element(row + 1, column) << 16;
  }
  store<u32>(file, instr.dst[0], result, active);
}

template <int kK>
constexpr const auto& kMmaInteger = kNumbered<8, []<size_t n>() -> AluFn {
  using A = ElementInteger<std::conditional_t<n / 2 % 2 == 0, uint8_t, int8_t>>;
  using B = ElementInteger<std::conditional_t<n % 2 == 0, uint8_t, int8_t>>;
  return [](const LaneFile& file, const Instr& instr, LaneMask active) {
    mma_integer<A, B, kK>(file, instr, active, n / 4 == 1);
  };
}>;

template <int kK>
constexpr const auto& kMmaFloat =
    kEach<mma<ElementF16, ElementF16, kK, false>, mma<ElementBf16, ElementBf16, kK, false>>;
constexpr AluForm kForms[] = {
    {"movmatrix.sync.aligned.m8n8.trans.b16", "w=w", kShuffle, kOne<move_matrix>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k16.row.col.f32(.f16.f16,.bf16.bf16).f32", "{ffff}={wwww},{ww},{ffff}", kMma,
     kMmaFloat<16>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k8.row.col.f32(.f16.f16,.bf16.bf16).f32", "{ffff}={ww},{w},{ffff}", kMmaHalf,
     kMmaFloat<8>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "{ww}={wwww},{ww},{ww}", kMma,
     kOne<mma<ElementF16, ElementF16, 16, true>>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "{ww}={ww},{w},{ww}", kMmaHalf,
     kOne<mma<ElementF16, ElementF16, 8, true>>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "{ffff}={wwww},{ww},{ffff}", kMma,
     kOne<mma<ElementTf32, ElementTf32, 8, false>>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "{ffff}={ww},{w},{ffff}", kMmaHalf,
     kOne<mma<ElementTf32, ElementTf32, 4, false>>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32(.u8,.s8)(.u8,.s8).s32", "{wwww}={wwww},{ww},{wwww}",
     kMma, kMmaInteger<32>, Kind::AluSync},
    {"mma.sync.aligned.m16n8k16.row.col{.satfinite}.s32(.u8,.s8)(.u8,.s8).s32", "{wwww}={ww},{w},{wwww}",
     kMmaHalf, kMmaInteger<16>, Kind::AluSync},
};
}  // namespace

extern const FormTable kMatrixForms;
const FormTable kMatrixForms{kForms, std::size(kForms)};

}  // namespace emu::isa::EMU_ISA_SET
