// Double-precision arithmetic in every rounding mode (PTX ISA 9.7.3).
#include "../instruction.cuh"

namespace conformance {
namespace {
#define FAMILY "double"

// clang-format off
#define LIST(OP1, OP2, OP3) \
  OP2(add_rn_f64, f64, f64, f64, "add.rn.f64 %0, %1, %2;") \
  OP2(add_rz_f64, f64, f64, f64, "add.rz.f64 %0, %1, %2;") \
  OP2(add_rm_f64, f64, f64, f64, "add.rm.f64 %0, %1, %2;") \
  OP2(add_rp_f64, f64, f64, f64, "add.rp.f64 %0, %1, %2;") \
  OP2(sub_rn_f64, f64, f64, f64, "sub.rn.f64 %0, %1, %2;") \
  OP2(sub_rz_f64, f64, f64, f64, "sub.rz.f64 %0, %1, %2;") \
  OP2(sub_rm_f64, f64, f64, f64, "sub.rm.f64 %0, %1, %2;") \
  OP2(sub_rp_f64, f64, f64, f64, "sub.rp.f64 %0, %1, %2;") \
  OP2(mul_rn_f64, f64, f64, f64, "mul.rn.f64 %0, %1, %2;") \
  OP2(mul_rz_f64, f64, f64, f64, "mul.rz.f64 %0, %1, %2;") \
  OP2(mul_rm_f64, f64, f64, f64, "mul.rm.f64 %0, %1, %2;") \
  OP2(mul_rp_f64, f64, f64, f64, "mul.rp.f64 %0, %1, %2;") \
  OP3(fma_rn_f64, f64, f64, f64, f64, "fma.rn.f64 %0, %1, %2, %3;") \
  OP3(fma_rz_f64, f64, f64, f64, f64, "fma.rz.f64 %0, %1, %2, %3;") \
  OP3(fma_rm_f64, f64, f64, f64, f64, "fma.rm.f64 %0, %1, %2, %3;") \
  OP3(fma_rp_f64, f64, f64, f64, f64, "fma.rp.f64 %0, %1, %2, %3;") \
  OP2(div_rn_f64, f64, f64, f64, "div.rn.f64 %0, %1, %2;") \
  OP2(div_rz_f64, f64, f64, f64, "div.rz.f64 %0, %1, %2;") \
  OP2(div_rm_f64, f64, f64, f64, "div.rm.f64 %0, %1, %2;") \
  OP2(div_rp_f64, f64, f64, f64, "div.rp.f64 %0, %1, %2;") \
  OP1(rcp_rn_f64, f64, f64, "rcp.rn.f64 %0, %1;") \
  OP1(rcp_rz_f64, f64, f64, "rcp.rz.f64 %0, %1;") \
  OP1(rcp_rm_f64, f64, f64, "rcp.rm.f64 %0, %1;") \
  OP1(rcp_rp_f64, f64, f64, "rcp.rp.f64 %0, %1;") \
  OP1(sqrt_rn_f64, f64, f64, "sqrt.rn.f64 %0, %1;") \
  OP1(sqrt_rz_f64, f64, f64, "sqrt.rz.f64 %0, %1;") \
  OP1(sqrt_rm_f64, f64, f64, "sqrt.rm.f64 %0, %1;") \
  OP1(sqrt_rp_f64, f64, f64, "sqrt.rp.f64 %0, %1;") \
  OP1(abs_f64, f64, f64, "abs.f64 %0, %1;") \
  OP1(neg_f64, f64, f64, "neg.f64 %0, %1;") \
  OP2(min_f64, f64, f64, f64, "min.f64 %0, %1, %2;") \
  OP2(max_f64, f64, f64, f64, "max.f64 %0, %1, %2;") \
  OP2(copysign_f64, f64, f64, f64, "copysign.f64 %0, %1, %2;") \
  OP1(testp_f64, i32, f64, "{.reg .pred p; mov.u32 %0, 0; testp.finite.f64 p, %1; @p or.b32 %0, %0, 1; testp.infinite.f64 p, %1; @p or.b32 %0, %0, 2; testp.number.f64 p, %1; @p or.b32 %0, %0, 4; testp.notanumber.f64 p, %1; @p or.b32 %0, %0, 8; testp.normal.f64 p, %1; @p or.b32 %0, %0, 16; testp.subnormal.f64 p, %1; @p or.b32 %0, %0, 32;}") \
  OP2(setp_f64, i32, f64, f64, "{.reg .pred p; .reg .u32 t; mov.u32 t, 0; setp.eq.f64 p, %1, %2; @p or.b32 t, t, 1; setp.ne.f64 p, %1, %2; @p or.b32 t, t, 2; setp.lt.f64 p, %1, %2; @p or.b32 t, t, 4; setp.le.f64 p, %1, %2; @p or.b32 t, t, 8; setp.gt.f64 p, %1, %2; @p or.b32 t, t, 16; setp.ge.f64 p, %1, %2; @p or.b32 t, t, 32; setp.equ.f64 p, %1, %2; @p or.b32 t, t, 64; setp.neu.f64 p, %1, %2; @p or.b32 t, t, 128; setp.ltu.f64 p, %1, %2; @p or.b32 t, t, 256; setp.leu.f64 p, %1, %2; @p or.b32 t, t, 512; setp.gtu.f64 p, %1, %2; @p or.b32 t, t, 1024; setp.geu.f64 p, %1, %2; @p or.b32 t, t, 2048; setp.num.f64 p, %1, %2; @p or.b32 t, t, 4096; setp.nan.f64 p, %1, %2; @p or.b32 t, t, 8192; mov.u32 %0, t;}")
// clang-format on

LIST(OP1, OP2, OP3)
}  // namespace

void double_cases(Table& table) { LIST(ADD_OP, ADD_OP, ADD_OP) }

}  // namespace conformance
