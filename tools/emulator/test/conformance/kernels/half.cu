// Half and bfloat16 arithmetic, scalar and packed (PTX ISA 9.7.4).
#include "../instruction.cuh"

namespace conformance {
namespace {
#define FAMILY "half"

// clang-format off
#define LIST(OP1, OP2, OP3) \
  OP2(add_rn_f16, f16, f16, f16, "add.rn.f16 %0, %1, %2;") \
  OP2(sub_rn_f16, f16, f16, f16, "sub.rn.f16 %0, %1, %2;") \
  OP2(mul_rn_f16, f16, f16, f16, "mul.rn.f16 %0, %1, %2;") \
  OP3(fma_rn_f16, f16, f16, f16, f16, "fma.rn.f16 %0, %1, %2, %3;") \
  OP3(fma_rn_relu_f16, f16, f16, f16, f16, "fma.rn.relu.f16 %0, %1, %2, %3;") \
  OP2(min_f16, f16, f16, f16, "min.f16 %0, %1, %2;") \
  OP2(max_f16, f16, f16, f16, "max.f16 %0, %1, %2;") \
  OP2(max_NaN_f16, f16, f16, f16, "max.NaN.f16 %0, %1, %2;") \
  OP2(min_NaN_xorsign_abs_f16, f16, f16, f16, "min.NaN.xorsign.abs.f16 %0, %1, %2;") \
  OP2(max_xorsign_abs_f16, f16, f16, f16, "max.xorsign.abs.f16 %0, %1, %2;") \
  OP1(abs_f16, f16, f16, "abs.f16 %0, %1;") \
  OP1(neg_f16, f16, f16, "neg.f16 %0, %1;") \
  OP2(add_rn_f16x2, f16x2, f16x2, f16x2, "add.rn.f16x2 %0, %1, %2;") \
  OP2(sub_rn_f16x2, f16x2, f16x2, f16x2, "sub.rn.f16x2 %0, %1, %2;") \
  OP2(mul_rn_f16x2, f16x2, f16x2, f16x2, "mul.rn.f16x2 %0, %1, %2;") \
  OP3(fma_rn_f16x2, f16x2, f16x2, f16x2, f16x2, "fma.rn.f16x2 %0, %1, %2, %3;") \
  OP3(fma_rn_relu_f16x2, f16x2, f16x2, f16x2, f16x2, "fma.rn.relu.f16x2 %0, %1, %2, %3;") \
  OP2(min_f16x2, f16x2, f16x2, f16x2, "min.f16x2 %0, %1, %2;") \
  OP2(max_f16x2, f16x2, f16x2, f16x2, "max.f16x2 %0, %1, %2;") \
  OP2(max_NaN_f16x2, f16x2, f16x2, f16x2, "max.NaN.f16x2 %0, %1, %2;") \
  OP2(min_NaN_xorsign_abs_f16x2, f16x2, f16x2, f16x2, "min.NaN.xorsign.abs.f16x2 %0, %1, %2;") \
  OP2(max_xorsign_abs_f16x2, f16x2, f16x2, f16x2, "max.xorsign.abs.f16x2 %0, %1, %2;") \
  OP1(abs_f16x2, f16x2, f16x2, "abs.f16x2 %0, %1;") \
  OP1(neg_f16x2, f16x2, f16x2, "neg.f16x2 %0, %1;") \
  OP2(add_rn_bf16, bf16, bf16, bf16, "add.rn.bf16 %0, %1, %2;") \
  OP2(sub_rn_bf16, bf16, bf16, bf16, "sub.rn.bf16 %0, %1, %2;") \
  OP2(mul_rn_bf16, bf16, bf16, bf16, "mul.rn.bf16 %0, %1, %2;") \
  OP3(fma_rn_bf16, bf16, bf16, bf16, bf16, "fma.rn.bf16 %0, %1, %2, %3;") \
  OP3(fma_rn_relu_bf16, bf16, bf16, bf16, bf16, "fma.rn.relu.bf16 %0, %1, %2, %3;") \
  OP2(min_bf16, bf16, bf16, bf16, "min.bf16 %0, %1, %2;") \
  OP2(max_bf16, bf16, bf16, bf16, "max.bf16 %0, %1, %2;") \
  OP2(max_NaN_bf16, bf16, bf16, bf16, "max.NaN.bf16 %0, %1, %2;") \
  OP2(min_NaN_xorsign_abs_bf16, bf16, bf16, bf16, "min.NaN.xorsign.abs.bf16 %0, %1, %2;") \
  OP2(max_xorsign_abs_bf16, bf16, bf16, bf16, "max.xorsign.abs.bf16 %0, %1, %2;") \
  OP1(abs_bf16, bf16, bf16, "abs.bf16 %0, %1;") \
  OP1(neg_bf16, bf16, bf16, "neg.bf16 %0, %1;") \
  OP2(add_rn_bf16x2, bf16x2, bf16x2, bf16x2, "add.rn.bf16x2 %0, %1, %2;") \
  OP2(sub_rn_bf16x2, bf16x2, bf16x2, bf16x2, "sub.rn.bf16x2 %0, %1, %2;") \
  OP2(mul_rn_bf16x2, bf16x2, bf16x2, bf16x2, "mul.rn.bf16x2 %0, %1, %2;") \
  OP3(fma_rn_bf16x2, bf16x2, bf16x2, bf16x2, bf16x2, "fma.rn.bf16x2 %0, %1, %2, %3;") \
  OP3(fma_rn_relu_bf16x2, bf16x2, bf16x2, bf16x2, bf16x2, "fma.rn.relu.bf16x2 %0, %1, %2, %3;") \
  OP2(min_bf16x2, bf16x2, bf16x2, bf16x2, "min.bf16x2 %0, %1, %2;") \
  OP2(max_bf16x2, bf16x2, bf16x2, bf16x2, "max.bf16x2 %0, %1, %2;") \
  OP2(max_NaN_bf16x2, bf16x2, bf16x2, bf16x2, "max.NaN.bf16x2 %0, %1, %2;") \
  OP2(min_NaN_xorsign_abs_bf16x2, bf16x2, bf16x2, bf16x2, "min.NaN.xorsign.abs.bf16x2 %0, %1, %2;") \
  OP2(max_xorsign_abs_bf16x2, bf16x2, bf16x2, bf16x2, "max.xorsign.abs.bf16x2 %0, %1, %2;") \
  OP1(abs_bf16x2, bf16x2, bf16x2, "abs.bf16x2 %0, %1;") \
  OP1(neg_bf16x2, bf16x2, bf16x2, "neg.bf16x2 %0, %1;") \
  OP2(add_rn_ftz_f16, f16, f16, f16, "add.rn.ftz.f16 %0, %1, %2;") \
  OP2(add_rn_sat_f16, f16, f16, f16, "add.rn.sat.f16 %0, %1, %2;") \
  OP2(mul_rn_ftz_sat_f16, f16, f16, f16, "mul.rn.ftz.sat.f16 %0, %1, %2;") \
  OP2(sub_rn_ftz_f16, f16, f16, f16, "sub.rn.ftz.f16 %0, %1, %2;") \
  OP2(max_ftz_f16, f16, f16, f16, "max.ftz.f16 %0, %1, %2;") \
  OP3(fma_rn_ftz_f16, f16, f16, f16, f16, "fma.rn.ftz.f16 %0, %1, %2, %3;") \
  OP3(fma_rn_sat_f16, f16, f16, f16, f16, "fma.rn.sat.f16 %0, %1, %2, %3;") \
  OP2(add_rn_ftz_f16x2, f16x2, f16x2, f16x2, "add.rn.ftz.f16x2 %0, %1, %2;") \
  OP2(add_rn_sat_f16x2, f16x2, f16x2, f16x2, "add.rn.sat.f16x2 %0, %1, %2;") \
  OP2(mul_rn_ftz_sat_f16x2, f16x2, f16x2, f16x2, "mul.rn.ftz.sat.f16x2 %0, %1, %2;") \
  OP2(sub_rn_ftz_f16x2, f16x2, f16x2, f16x2, "sub.rn.ftz.f16x2 %0, %1, %2;") \
  OP2(max_ftz_f16x2, f16x2, f16x2, f16x2, "max.ftz.f16x2 %0, %1, %2;") \
  OP3(fma_rn_ftz_f16x2, f16x2, f16x2, f16x2, f16x2, "fma.rn.ftz.f16x2 %0, %1, %2, %3;") \
  OP3(fma_rn_sat_f16x2, f16x2, f16x2, f16x2, f16x2, "fma.rn.sat.f16x2 %0, %1, %2, %3;") \
  OP2(setp_f16, i32, f16, f16, "{.reg .pred p; .reg .u32 t; mov.u32 t, 0; setp.eq.f16 p, %1, %2; @p or.b32 t, t, 1; setp.ne.f16 p, %1, %2; @p or.b32 t, t, 2; setp.lt.f16 p, %1, %2; @p or.b32 t, t, 4; setp.le.f16 p, %1, %2; @p or.b32 t, t, 8; setp.gt.f16 p, %1, %2; @p or.b32 t, t, 16; setp.ge.f16 p, %1, %2; @p or.b32 t, t, 32; setp.equ.f16 p, %1, %2; @p or.b32 t, t, 64; setp.neu.f16 p, %1, %2; @p or.b32 t, t, 128; setp.ltu.f16 p, %1, %2; @p or.b32 t, t, 256; setp.leu.f16 p, %1, %2; @p or.b32 t, t, 512; setp.gtu.f16 p, %1, %2; @p or.b32 t, t, 1024; setp.geu.f16 p, %1, %2; @p or.b32 t, t, 2048; setp.num.f16 p, %1, %2; @p or.b32 t, t, 4096; setp.nan.f16 p, %1, %2; @p or.b32 t, t, 8192; mov.u32 %0, t;}") \
  OP2(setp_ftz_f16, i32, f16, f16, "{.reg .pred p; .reg .u32 t; mov.u32 t, 0; setp.eq.ftz.f16 p, %1, %2; @p or.b32 t, t, 1; setp.ne.ftz.f16 p, %1, %2; @p or.b32 t, t, 2; setp.lt.ftz.f16 p, %1, %2; @p or.b32 t, t, 4; setp.le.ftz.f16 p, %1, %2; @p or.b32 t, t, 8; setp.gt.ftz.f16 p, %1, %2; @p or.b32 t, t, 16; setp.ge.ftz.f16 p, %1, %2; @p or.b32 t, t, 32; setp.equ.ftz.f16 p, %1, %2; @p or.b32 t, t, 64; setp.neu.ftz.f16 p, %1, %2; @p or.b32 t, t, 128; setp.ltu.ftz.f16 p, %1, %2; @p or.b32 t, t, 256; setp.leu.ftz.f16 p, %1, %2; @p or.b32 t, t, 512; setp.gtu.ftz.f16 p, %1, %2; @p or.b32 t, t, 1024; setp.geu.ftz.f16 p, %1, %2; @p or.b32 t, t, 2048; setp.num.ftz.f16 p, %1, %2; @p or.b32 t, t, 4096; setp.nan.ftz.f16 p, %1, %2; @p or.b32 t, t, 8192; mov.u32 %0, t;}") \
  OP2(setp_bf16, i32, bf16, bf16, "{.reg .pred p; .reg .u32 t; mov.u32 t, 0; setp.eq.bf16 p, %1, %2; @p or.b32 t, t, 1; setp.ne.bf16 p, %1, %2; @p or.b32 t, t, 2; setp.lt.bf16 p, %1, %2; @p or.b32 t, t, 4; setp.le.bf16 p, %1, %2; @p or.b32 t, t, 8; setp.gt.bf16 p, %1, %2; @p or.b32 t, t, 16; setp.ge.bf16 p, %1, %2; @p or.b32 t, t, 32; setp.equ.bf16 p, %1, %2; @p or.b32 t, t, 64; setp.neu.bf16 p, %1, %2; @p or.b32 t, t, 128; setp.ltu.bf16 p, %1, %2; @p or.b32 t, t, 256; setp.leu.bf16 p, %1, %2; @p or.b32 t, t, 512; setp.gtu.bf16 p, %1, %2; @p or.b32 t, t, 1024; setp.geu.bf16 p, %1, %2; @p or.b32 t, t, 2048; setp.num.bf16 p, %1, %2; @p or.b32 t, t, 4096; setp.nan.bf16 p, %1, %2; @p or.b32 t, t, 8192; mov.u32 %0, t;}") \
  OP2(setp_f16x2, i32, f16x2, f16x2, "{.reg .pred p, q; mov.u32 %0, 0; setp.lt.f16x2 p|q, %1, %2; @p or.b32 %0, %0, 1; @q or.b32 %0, %0, 2; setp.neu.f16x2 p|q, %1, %2; @p or.b32 %0, %0, 4; @q or.b32 %0, %0, 8;}") \
  OP2(set_ge_f16x2_f16x2, f16x2, f16x2, f16x2, "set.ge.f16x2.f16x2 %0, %1, %2;") \
  OP2(set_gtu_u32_bf16, i32, bf16x2, bf16x2, "{.reg .b16 a, b, c, d; mov.b32 {a, b}, %1; mov.b32 {c, d}, %2; set.gtu.u32.bf16 %0, a, c;}")
// clang-format on

LIST(OP1, OP2, OP3)
}  // namespace

void half_cases(Table& table) { LIST(ADD_OP, ADD_OP, ADD_OP) }

}  // namespace conformance
