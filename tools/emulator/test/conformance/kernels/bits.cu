// Logic, shifts and bit fields (PTX ISA 9.7.1.14 to 9.7.1.22, 9.7.8, prmt of 9.7.9.7).
#include "../instruction.cuh"

namespace conformance {
namespace {
#define FAMILY "bits"

// clang-format off
#define LIST(OP1, OP2, OP3) \
  OP2(shl_b32, i32, i32, shift, "shl.b32 %0, %1, %2;") \
  OP2(shl_b64, i64, i64, shift, "shl.b64 %0, %1, %2;") \
  OP2(shl_b16, i16, i16, shift, "shl.b16 %0, %1, %2;") \
  OP2(shr_s32, i32, i32, shift, "shr.s32 %0, %1, %2;") \
  OP2(shr_u32, i32, i32, shift, "shr.u32 %0, %1, %2;") \
  OP2(shr_s64, i64, i64, shift, "shr.s64 %0, %1, %2;") \
  OP2(shr_u64, i64, i64, shift, "shr.u64 %0, %1, %2;") \
  OP2(shr_s16, i16, i16, shift, "shr.s16 %0, %1, %2;") \
  OP3(shf_l_wrap, i32, i32, i32, shift, "shf.l.wrap.b32 %0, %1, %2, %3;") \
  OP3(shf_l_clamp, i32, i32, i32, shift, "shf.l.clamp.b32 %0, %1, %2, %3;") \
  OP3(shf_r_wrap, i32, i32, i32, shift, "shf.r.wrap.b32 %0, %1, %2, %3;") \
  OP3(shf_r_clamp, i32, i32, i32, shift, "shf.r.clamp.b32 %0, %1, %2, %3;") \
  OP3(lop3_majority, i32, i32, i32, i32, "lop3.b32 %0, %1, %2, %3, 0xe8;") \
  OP3(lop3_select, i32, i32, i32, i32, "lop3.b32 %0, %1, %2, %3, 0xca;") \
  OP3(lop3_1b, i32, i32, i32, i32, "lop3.b32 %0, %1, %2, %3, 0x1b;") \
  OP3(lop3_or_pred, i32, i32, i32, i32, \
      "{.reg .pred p, q; .reg .b32 d; setp.ne.b32 q, %1, %2; lop3.or.b32 d|p, %1, %2, %3, 0x80, q; selp.b32 %0, d, 99, p;}") \
  OP1(cnot_b32, i32, i32, "cnot.b32 %0, %1;") \
  OP1(not_b64, i64, i64, "not.b64 %0, %1;") \
  OP1(clz_b32, i32, i32, "clz.b32 %0, %1;") \
  OP1(clz_b64, i32, i64, "clz.b64 %0, %1;") \
  OP1(popc_b32, i32, i32, "popc.b32 %0, %1;") \
  OP1(popc_b64, i32, i64, "popc.b64 %0, %1;") \
  OP1(brev_b32, i32, i32, "brev.b32 %0, %1;") \
  OP1(brev_b64, i64, i64, "brev.b64 %0, %1;") \
  OP1(bfind_u32, i32, i32, "bfind.u32 %0, %1;") \
  OP1(bfind_s32, i32, i32, "bfind.s32 %0, %1;") \
  OP1(bfind_shiftamt_s32, i32, i32, "bfind.shiftamt.s32 %0, %1;") \
  OP1(bfind_u64, i32, i64, "bfind.u64 %0, %1;") \
  OP1(bfind_shiftamt_s64, i32, i64, "bfind.shiftamt.s64 %0, %1;") \
  OP3(fns_up, i32, i32, shift, shift, "{.reg .u32 b, n; and.b32 b, %2, 31; and.b32 n, %3, 15; fns.b32 %0, %1, b, n;}") \
  OP3(fns_down, i32, i32, shift, shift, "{.reg .u32 b; .reg .s32 n; and.b32 b, %2, 31; and.b32 n, %3, 7; neg.s32 n, n; fns.b32 %0, %1, b, n;}") \
  OP3(bfe_u32, i32, i32, shift, shift, "bfe.u32 %0, %1, %2, %3;") \
  OP3(bfe_s32, i32, i32, shift, shift, "bfe.s32 %0, %1, %2, %3;") \
  OP3(bfe_u64, i64, i64, shift, shift, "{.reg .u32 p, l; and.b32 p, %2, 255; and.b32 l, %3, 255; bfe.u64 %0, %1, p, l;}") \
  OP3(bfe_s64, i64, i64, shift, shift, "{.reg .u32 p, l; and.b32 p, %2, 255; and.b32 l, %3, 255; bfe.s64 %0, %1, p, l;}") \
  OP3(bfi_b32, i32, i32, shift, shift, "bfi.b32 %0, %1, 0x5a5aa5a5, %2, %3;") \
  OP3(bfi_b64, i64, i64, shift, shift, "{.reg .u32 p, l; and.b32 p, %2, 255; and.b32 l, %3, 255; bfi.b64 %0, %1, 0x5a5aa5a50ff0f00f, p, l;}") \
  OP2(bmsk_clamp, i32, shift, shift, "bmsk.clamp.b32 %0, %1, %2;") \
  OP2(bmsk_wrap, i32, shift, shift, "bmsk.wrap.b32 %0, %1, %2;") \
  OP2(szext_clamp_s32, i32, i32, shift, "szext.clamp.s32 %0, %1, %2;") \
  OP2(szext_wrap_u32, i32, i32, shift, "szext.wrap.u32 %0, %1, %2;") \
  OP3(prmt, i32, i32, i32, selector, "prmt.b32 %0, %1, %2, %3;") \
  OP3(prmt_f4e, i32, i32, i32, selector, "prmt.b32.f4e %0, %1, %2, %3;") \
  OP3(prmt_b4e, i32, i32, i32, selector, "prmt.b32.b4e %0, %1, %2, %3;") \
  OP3(prmt_rc8, i32, i32, i32, selector, "prmt.b32.rc8 %0, %1, %2, %3;") \
  OP3(prmt_ecl, i32, i32, i32, selector, "prmt.b32.ecl %0, %1, %2, %3;") \
  OP3(prmt_ecr, i32, i32, i32, selector, "prmt.b32.ecr %0, %1, %2, %3;") \
  OP3(prmt_rc16, i32, i32, i32, selector, "prmt.b32.rc16 %0, %1, %2, %3;")
// clang-format on

LIST(OP1, OP2, OP3)
}  // namespace

void bit_cases(Table& table) { LIST(ADD_OP, ADD_OP, ADD_OP) }

}  // namespace conformance
