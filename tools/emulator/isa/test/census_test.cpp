// The register-to-register forms that nvcc 13 and hand-written inline assembly were seen to use in public
// Blackwell programs (GEMM ladders, attention kernels, library tutorials, classic samples).
#include <set>
#include <sstream>

#include "isa/decode_alu.h"
#include "testing/catch.h"

namespace {
// base: suffixes
const char* const kCensus = R"(
abs: f32 f64 ftz.f32
add: f16 f32 f32x2 f64 ftz.f32 rn.f32 rn.f64 rn.ftz.f32x2 s16 s32 s64 u64
and: b16 b32 b64 pred
clz: b32
copysign: f32 f64
cos: approx.f32 approx.ftz.f32
cvt: f32.bf16 f32.f16 f64.f32 ftz.f64.f32 rn.bf16.f32 rn.bf16x2.f32 rn.f16.f32 rn.f16.s32 rn.f16x2.e4m3x2
cvt: rn.f16x2.e5m2x2 rn.f16x2.f32 rn.f32.f64 rn.f32.s32 rn.f32.s64 rn.f32.u32 rn.f64.s32 rn.f64.s64 rn.ftz.f32.f64
cvt: rn.satfinite.e4m3x2.f32 rn.satfinite.e5m2x2.f32 rni.f32.f32 rni.ftz.s32.f32 rni.s32.f32 rzi.s32.f32 s16.s8
cvt: s32.s8 s64.s32 sat.f32.f32 u16.u32 u32.u16 u32.u64 u64.u16 u64.u32
div: approx.f32 approx.ftz.f32 full.f32 rn.f32 rn.f64 s32 u16 u32
ex2: approx.f32 approx.ftz.f32 approx.f16 approx.f16x2 approx.ftz.bf16 approx.ftz.bf16x2
fma: rm.f32 rn.f16x2 rn.f32 rn.f32x2 rn.f64 rn.ftz.f32 rn.ftz.f32x2 rn.relu.bf16x2 rn.f32.bf16 rn.sat.f32.f16
lg2: approx.f32 approx.ftz.f32
mad: lo.s32 lo.s64 wide.u32
match: any.sync.b32
max: f32 f64 ftz.f32 s32 u32 NaN.f32 ftz.NaN.abs.f32
min: s32 u32 f32
mov: b16 b32 b64 f32 f64 pred s32 u16 u32 u64 b128
mul: bf16 f16 f32 f32x2 f64 ftz.f32 hi.s32 hi.u32 hi.u64 lo.s16 lo.s32 lo.s64 rn.f32 rn.ftz.f32x2 wide.s16 wide.s32
mul: wide.u16 wide.u32
neg: f32 ftz.f32 s32 s64
not: b32 pred
or: b16 b32 b64 pred
popc: b32
rcp: approx.ftz.f32 rn.f64
redux: sync.add.s32 sync.max.s32 sync.max.f32 sync.min.abs.NaN.f32
rem: s32 u16
rsqrt: approx.f32 approx.ftz.f32
selp: b16 b32 b64 f32 f64 s32 u16 u32
setp: eq.b32 eq.b64 eq.f16 eq.f32 eq.ftz.f32 eq.s16 eq.s32 eq.s64 eq.u32 equ.ftz.f32 ge.f32 ge.ftz.f32 ge.s32 ge.u32
setp: ge.u64 geu.f32 gt.f32 gt.f64 gt.ftz.f32 gt.s32 gt.u32 gt.u64 le.f32 le.ftz.f32 le.s32 le.u32 le.u64 leu.f32
setp: leu.f64 leu.ftz.f32 lt.f32 lt.f64 lt.ftz.f32 lt.s32 lt.u32 lt.u64 ltu.f32 nan.f32 nan.ftz.f32 ne.b32 ne.f64
setp: ne.ftz.f32 ne.s16 ne.s32 ne.s64 neu.f32 neu.ftz.f32 num.f32
shf: l.wrap.b32 r.wrap.b32
shl: b16 b32 b64
shr: s16 s32 u16 u32 u64
sin: approx.f32 approx.ftz.f32
sqrt: approx.ftz.f32 rn.f32 rn.f64
sub: f16 f32 ftz.f32 s16 s32 s64
tanh: approx.f32
xor: b16 b32 b64 pred
elect: sync
shfl: sync.bfly.b32 sync.down.b32 sync.idx.b32 sync.up.b32
vote: sync.all.pred sync.any.pred sync.ballot.b32
mma: sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
movmatrix: sync.aligned.m8n8.trans.b16
)";
}  // namespace

TEST_CASE("every ALU form met in real programs is supported") {
  std::set<std::string> supported;
  for (const auto& form : emu::isa::supported_alu_forms()) supported.insert(form.opcode);
  std::istringstream lines(kCensus);
  int checked = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string base;
    if (!(words >> base)) continue;
    base.pop_back();
    for (std::string suffix; words >> suffix; ++checked) {
      INFO(base << "." << suffix);
      CHECK(supported.contains(base + "." + suffix));
    }
  }
  CHECK(checked > 200);
}
