// Single-precision arithmetic in every rounding mode, with .ftz and .sat (PTX ISA 9.7.3).
#include "../instruction.cuh"

namespace conformance {
namespace {
#define FAMILY "float"

// clang-format off
#define LIST(OP1, OP2, OP3) \
  OP2(add_rn_f32, f32, f32, f32, "add.rn.f32 %0, %1, %2;") \
  OP2(add_rz_f32, f32, f32, f32, "add.rz.f32 %0, %1, %2;") \
  OP2(add_rm_f32, f32, f32, f32, "add.rm.f32 %0, %1, %2;") \
  OP2(add_rp_f32, f32, f32, f32, "add.rp.f32 %0, %1, %2;") \
  OP2(sub_rn_f32, f32, f32, f32, "sub.rn.f32 %0, %1, %2;") \
  OP2(sub_rz_f32, f32, f32, f32, "sub.rz.f32 %0, %1, %2;") \
  OP2(sub_rm_f32, f32, f32, f32, "sub.rm.f32 %0, %1, %2;") \
  OP2(sub_rp_f32, f32, f32, f32, "sub.rp.f32 %0, %1, %2;") \
  OP2(mul_rn_f32, f32, f32, f32, "mul.rn.f32 %0, %1, %2;") \
  OP2(mul_rz_f32, f32, f32, f32, "mul.rz.f32 %0, %1, %2;") \
  OP2(mul_rm_f32, f32, f32, f32, "mul.rm.f32 %0, %1, %2;") \
  OP2(mul_rp_f32, f32, f32, f32, "mul.rp.f32 %0, %1, %2;") \
  OP3(fma_rn_f32, f32, f32, f32, f32, "fma.rn.f32 %0, %1, %2, %3;") \
  OP3(fma_rz_f32, f32, f32, f32, f32, "fma.rz.f32 %0, %1, %2, %3;") \
  OP3(fma_rm_f32, f32, f32, f32, f32, "fma.rm.f32 %0, %1, %2, %3;") \
  OP3(fma_rp_f32, f32, f32, f32, f32, "fma.rp.f32 %0, %1, %2, %3;") \
  OP2(add_rn_ftz_f32, f32, f32, f32, "add.rn.ftz.f32 %0, %1, %2;") \
  OP2(sub_rz_ftz_f32, f32, f32, f32, "sub.rz.ftz.f32 %0, %1, %2;") \
  OP2(mul_rn_ftz_f32, f32, f32, f32, "mul.rn.ftz.f32 %0, %1, %2;") \
  OP2(mul_rp_ftz_f32, f32, f32, f32, "mul.rp.ftz.f32 %0, %1, %2;") \
  OP2(add_rn_sat_f32, f32, f32, f32, "add.rn.sat.f32 %0, %1, %2;") \
  OP2(add_rn_ftz_sat_f32, f32, f32, f32, "add.rn.ftz.sat.f32 %0, %1, %2;") \
  OP2(mul_rn_sat_f32, f32, f32, f32, "mul.rn.sat.f32 %0, %1, %2;") \
  OP2(mul_rz_ftz_sat_f32, f32, f32, f32, "mul.rz.ftz.sat.f32 %0, %1, %2;") \
  OP3(fma_rn_ftz_f32, f32, f32, f32, f32, "fma.rn.ftz.f32 %0, %1, %2, %3;") \
  OP3(fma_rm_ftz_f32, f32, f32, f32, f32, "fma.rm.ftz.f32 %0, %1, %2, %3;") \
  OP3(fma_rn_sat_f32, f32, f32, f32, f32, "fma.rn.sat.f32 %0, %1, %2, %3;") \
  OP3(fma_rn_ftz_sat_f32, f32, f32, f32, f32, "fma.rn.ftz.sat.f32 %0, %1, %2, %3;") \
  OP2(div_rn_f32, f32, f32, f32, "div.rn.f32 %0, %1, %2;") \
  OP2(div_rz_f32, f32, f32, f32, "div.rz.f32 %0, %1, %2;") \
  OP2(div_rm_f32, f32, f32, f32, "div.rm.f32 %0, %1, %2;") \
  OP2(div_rp_f32, f32, f32, f32, "div.rp.f32 %0, %1, %2;") \
  OP2(div_rn_ftz_f32, f32, f32, f32, "div.rn.ftz.f32 %0, %1, %2;") \
  OP1(rcp_rn_f32, f32, f32, "rcp.rn.f32 %0, %1;") \
  OP1(rcp_rz_f32, f32, f32, "rcp.rz.f32 %0, %1;") \
  OP1(rcp_rm_f32, f32, f32, "rcp.rm.f32 %0, %1;") \
  OP1(rcp_rp_f32, f32, f32, "rcp.rp.f32 %0, %1;") \
  OP1(rcp_rn_ftz_f32, f32, f32, "rcp.rn.ftz.f32 %0, %1;") \
  OP1(sqrt_rn_f32, f32, f32, "sqrt.rn.f32 %0, %1;") \
  OP1(sqrt_rz_f32, f32, f32, "sqrt.rz.f32 %0, %1;") \
  OP1(sqrt_rm_f32, f32, f32, "sqrt.rm.f32 %0, %1;") \
  OP1(sqrt_rp_f32, f32, f32, "sqrt.rp.f32 %0, %1;") \
  OP1(sqrt_rn_ftz_f32, f32, f32, "sqrt.rn.ftz.f32 %0, %1;") \
  OP1(abs_f32, f32, f32, "abs.f32 %0, %1;") \
  OP1(abs_ftz_f32, f32, f32, "abs.ftz.f32 %0, %1;") \
  OP1(neg_f32, f32, f32, "neg.f32 %0, %1;") \
  OP1(neg_ftz_f32, f32, f32, "neg.ftz.f32 %0, %1;") \
  OP2(min_f32, f32, f32, f32, "min.f32 %0, %1, %2;") \
  OP2(max_f32, f32, f32, f32, "max.f32 %0, %1, %2;") \
  OP2(min_ftz_f32, f32, f32, f32, "min.ftz.f32 %0, %1, %2;") \
  OP2(max_ftz_f32, f32, f32, f32, "max.ftz.f32 %0, %1, %2;") \
  OP2(min_NaN_f32, f32, f32, f32, "min.NaN.f32 %0, %1, %2;") \
  OP2(max_NaN_f32, f32, f32, f32, "max.NaN.f32 %0, %1, %2;") \
  OP2(max_ftz_NaN_f32, f32, f32, f32, "max.ftz.NaN.f32 %0, %1, %2;") \
  OP2(min_xorsign_abs_f32, f32, f32, f32, "min.xorsign.abs.f32 %0, %1, %2;") \
  OP2(max_NaN_xorsign_abs_f32, f32, f32, f32, "max.NaN.xorsign.abs.f32 %0, %1, %2;") \
  OP2(copysign_f32, f32, f32, f32, "copysign.f32 %0, %1, %2;") \
  OP1(testp_f32, i32, f32, "{.reg .pred p; mov.u32 %0, 0; testp.finite.f32 p, %1; @p or.b32 %0, %0, 1; testp.infinite.f32 p, %1; @p or.b32 %0, %0, 2; testp.number.f32 p, %1; @p or.b32 %0, %0, 4; testp.notanumber.f32 p, %1; @p or.b32 %0, %0, 8; testp.normal.f32 p, %1; @p or.b32 %0, %0, 16; testp.subnormal.f32 p, %1; @p or.b32 %0, %0, 32;}") \
  OP2(setp_f32, i32, f32, f32, "{.reg .pred p; .reg .u32 t; mov.u32 t, 0; setp.eq.f32 p, %1, %2; @p or.b32 t, t, 1; setp.ne.f32 p, %1, %2; @p or.b32 t, t, 2; setp.lt.f32 p, %1, %2; @p or.b32 t, t, 4; setp.le.f32 p, %1, %2; @p or.b32 t, t, 8; setp.gt.f32 p, %1, %2; @p or.b32 t, t, 16; setp.ge.f32 p, %1, %2; @p or.b32 t, t, 32; setp.equ.f32 p, %1, %2; @p or.b32 t, t, 64; setp.neu.f32 p, %1, %2; @p or.b32 t, t, 128; setp.ltu.f32 p, %1, %2; @p or.b32 t, t, 256; setp.leu.f32 p, %1, %2; @p or.b32 t, t, 512; setp.gtu.f32 p, %1, %2; @p or.b32 t, t, 1024; setp.geu.f32 p, %1, %2; @p or.b32 t, t, 2048; setp.num.f32 p, %1, %2; @p or.b32 t, t, 4096; setp.nan.f32 p, %1, %2; @p or.b32 t, t, 8192; mov.u32 %0, t;}") \
  OP2(setp_ftz_f32, i32, f32, f32, "{.reg .pred p; .reg .u32 t; mov.u32 t, 0; setp.eq.ftz.f32 p, %1, %2; @p or.b32 t, t, 1; setp.ne.ftz.f32 p, %1, %2; @p or.b32 t, t, 2; setp.lt.ftz.f32 p, %1, %2; @p or.b32 t, t, 4; setp.le.ftz.f32 p, %1, %2; @p or.b32 t, t, 8; setp.gt.ftz.f32 p, %1, %2; @p or.b32 t, t, 16; setp.ge.ftz.f32 p, %1, %2; @p or.b32 t, t, 32; setp.equ.ftz.f32 p, %1, %2; @p or.b32 t, t, 64; setp.neu.ftz.f32 p, %1, %2; @p or.b32 t, t, 128; setp.ltu.ftz.f32 p, %1, %2; @p or.b32 t, t, 256; setp.leu.ftz.f32 p, %1, %2; @p or.b32 t, t, 512; setp.gtu.ftz.f32 p, %1, %2; @p or.b32 t, t, 1024; setp.geu.ftz.f32 p, %1, %2; @p or.b32 t, t, 2048; setp.num.ftz.f32 p, %1, %2; @p or.b32 t, t, 4096; setp.nan.ftz.f32 p, %1, %2; @p or.b32 t, t, 8192; mov.u32 %0, t;}") \
  OP2(set_ltu_u32_f32, i32, f32, f32, "set.ltu.u32.f32 %0, %1, %2;") \
  OP2(set_geu_ftz_f32_f32, f32, f32, f32, "set.geu.ftz.f32.f32 %0, %1, %2;")
// clang-format on

LIST(OP1, OP2, OP3)
}  // namespace

void float_cases(Table& table) { LIST(ADD_OP, ADD_OP, ADD_OP) }

}  // namespace conformance
