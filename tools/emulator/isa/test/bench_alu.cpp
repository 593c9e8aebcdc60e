// Nanoseconds per warp instruction of common forms, on all lanes and on half of them.
#include <chrono>
#include <cstdio>
#include <cstring>

#include "isa/test/warp_harness.h"

using namespace emu::isa;
using namespace emu::isa::test;

namespace {
double nanoseconds(Warp& warp, LaneMask active) {
  const LaneFile file = warp.file();
  const Instr& instr = warp.code().front();
  constexpr int kRepeats = 2000;  // short enough to fit between two interruptions
  double best = 1e9;
  for (int round = 0; round < 100; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRepeats; ++i) instr.alu(file, instr, active);
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count() / kRepeats);
  }
  return best;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::printf("usage: bench_alu   (EMU_ISA=avx2 selects the narrower routines)\n");
    return std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  const char* forms[] = {"add.s32 %r0, %r1, %r2;",
                         "mad.lo.s32 %r0, %r1, %r2, %r3;",
                         "mul.wide.u32 %rd0, %r1, %r2;",
                         "add.s64 %rd0, %rd1, %rd2;",
                         "div.u32 %r0, %r1, %r2;",
                         "and.b32 %r0, %r1, %r2;",
                         "shl.b32 %r0, %r1, 3;",
                         "lop3.b32 %r0, %r1, %r2, %r3, 0x96;",
                         "prmt.b32 %r0, %r1, %r2, 0x5410;",
                         "setp.lt.s32 %p0, %r1, %r2;",
                         "selp.b32 %r0, %r1, %r2, %p0;",
                         "mov.b32 %r0, %r1;",
                         "mov.b64 %rd0, {%r1, %r2};",
                         "mov.b64 {%r1, %r2}, %rd0;",
                         "add.f32 %f0, %f1, %f2;",
                         "add.ftz.f32 %f0, %f1, %f2;",
                         "fma.rn.f32 %f0, %f1, %f2, %f3;",
                         "fma.rn.ftz.f32x2 %rd0, %rd1, %rd2, %rd3;",
                         "fma.rm.f32 %f0, %f1, %f2, %f3;",
                         "max.f32 %f0, %f1, %f2;",
                         "max.f32 %f0, %f1, %f2, %f3;",
                         "ex2.approx.ftz.f32 %f0, %f1;",
                         "ex2.approx.f32 %f0, %f1;",
                         "lg2.approx.ftz.f32 %f0, %f1;",
                         "rcp.approx.ftz.f32 %f0, %f1;",
                         "rsqrt.approx.f32 %f0, %f1;",
                         "sin.approx.f32 %f0, %f1;",
                         "div.rn.f32 %f0, %f1, %f2;",
                         "fma.rn.bf16x2 %r0, %r1, %r2, %r3;",
                         "fma.rn.f16x2 %r0, %r1, %r2, %r3;",
                         "cvt.rn.bf16x2.f32 %r0, %f1, %f2;",
                         "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;",
                         "cvt.rn.f32.s32 %f0, %r1;",
                         "cvt.rni.s32.f32 %r0, %f1;",
                         "cvt.u64.u32 %rd0, %r1;",
                         "cvt.s64.s8 %rd0, %r1;",
                         "add.f64 %fd0, %fd1, %fd2;",
                         "popc.b32 %r0, %r1;",
                         "shfl.sync.bfly.b32 %r0|%p0, %r1, 1, 31, -1;",
                         "redux.sync.add.s32 %r0, %r1, -1;",
                         "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, "
                         "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f4,%f5,%f6,%f7};"};
  std::printf("%s: ns per warp instruction, all lanes / half of them\n",
              std::string(alu_instruction_set()).c_str());
  for (const char* form : forms) {
    Warp warp(form);
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 1; i < 4; ++i) {
        warp.lanes<float>(fmt::format("%f{}", i))[lane] = 0.25f * static_cast<float>(lane + i);
        warp.lanes<uint32_t>(fmt::format("%r{}", i))[lane] = 0x3f803f80 + static_cast<uint32_t>(lane * i);
        warp.lanes<double>(fmt::format("%fd{}", i))[lane] = 0.25 * (lane + i);
        warp.lanes<uint64_t>(fmt::format("%rd{}", i))[lane] = 0x3f8000003f800000;
      }
    }
    std::printf("%7.1f %7.1f  %.*s\n", nanoseconds(warp, ~0u), nanoseconds(warp, 0x0000ffff), 70, form);
  }
}
