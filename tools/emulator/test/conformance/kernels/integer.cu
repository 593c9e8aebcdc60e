// Integer arithmetic (PTX ISA 9.7.1), the carry chains of 9.7.2 and integer comparisons.
#include "../instruction.cuh"

namespace conformance {
namespace {
#define FAMILY "integer"

// clang-format off
#define LIST(OP1, OP2, OP3) \
  OP2(add_s32, i32, i32, i32, "add.s32 %0, %1, %2;") \
  OP2(add_sat_s32, i32, i32, i32, "add.sat.s32 %0, %1, %2;") \
  OP2(sub_sat_s32, i32, i32, i32, "sub.sat.s32 %0, %1, %2;") \
  OP2(add_s16x2, i32, i32, i32, "add.s16x2 %0, %1, %2;") \
  OP2(add_s64, i64, i64, i64, "add.s64 %0, %1, %2;") \
  OP2(sub_s64, i64, i64, i64, "sub.s64 %0, %1, %2;") \
  OP2(mul_lo_s32, i32, i32, i32, "mul.lo.s32 %0, %1, %2;") \
  OP2(mul_hi_s32, i32, i32, i32, "mul.hi.s32 %0, %1, %2;") \
  OP2(mul_hi_u32, i32, i32, i32, "mul.hi.u32 %0, %1, %2;") \
  OP2(mul_wide_s32, i64, i32, i32, "mul.wide.s32 %0, %1, %2;") \
  OP2(mul_wide_u32, i64, i32, i32, "mul.wide.u32 %0, %1, %2;") \
  OP2(mul_lo_s16, i16, i16, i16, "mul.lo.s16 %0, %1, %2;") \
  OP2(mul_hi_u16, i16, i16, i16, "mul.hi.u16 %0, %1, %2;") \
  OP2(mul_wide_s16, i32, i16, i16, "mul.wide.s16 %0, %1, %2;") \
  OP2(mul_wide_u16, i32, i16, i16, "mul.wide.u16 %0, %1, %2;") \
  OP2(mul_lo_s64, i64, i64, i64, "mul.lo.s64 %0, %1, %2;") \
  OP2(mul_hi_s64, i64, i64, i64, "mul.hi.s64 %0, %1, %2;") \
  OP2(mul_hi_u64, i64, i64, i64, "mul.hi.u64 %0, %1, %2;") \
  OP2(mul24_lo_s32, i32, i32, i32, "mul24.lo.s32 %0, %1, %2;") \
  OP2(mul24_hi_s32, i32, i32, i32, "mul24.hi.s32 %0, %1, %2;") \
  OP2(mul24_lo_u32, i32, i32, i32, "mul24.lo.u32 %0, %1, %2;") \
  OP2(mul24_hi_u32, i32, i32, i32, "mul24.hi.u32 %0, %1, %2;") \
  OP3(mad_lo_s32, i32, i32, i32, i32, "mad.lo.s32 %0, %1, %2, %3;") \
  OP3(mad_hi_s32, i32, i32, i32, i32, "mad.hi.s32 %0, %1, %2, %3;") \
  OP3(mad_hi_sat_s32, i32, i32, i32, i32, "mad.hi.sat.s32 %0, %1, %2, %3;") \
  OP3(mad_hi_u32, i32, i32, i32, i32, "mad.hi.u32 %0, %1, %2, %3;") \
  OP3(mad_wide_s32, i64, i32, i32, i64, "mad.wide.s32 %0, %1, %2, %3;") \
  OP3(mad_wide_u32, i64, i32, i32, i64, "mad.wide.u32 %0, %1, %2, %3;") \
  OP3(mad_lo_s64, i64, i64, i64, i64, "mad.lo.s64 %0, %1, %2, %3;") \
  OP3(mad24_lo_s32, i32, i32, i32, i32, "mad24.lo.s32 %0, %1, %2, %3;") \
  OP3(mad24_hi_u32, i32, i32, i32, i32, "mad24.hi.u32 %0, %1, %2, %3;") \
  OP3(mad24_hi_sat_s32, i32, i32, i32, i32, "mad24.hi.sat.s32 %0, %1, %2, %3;") \
  OP2(div_s32, i32, i32, i32, "div.s32 %0, %1, %2;") \
  OP2(div_u32, i32, i32, i32, "div.u32 %0, %1, %2;") \
  OP2(rem_s32, i32, i32, i32, "rem.s32 %0, %1, %2;") \
  OP2(rem_u32, i32, i32, i32, "rem.u32 %0, %1, %2;") \
  OP2(div_s64, i64, i64, i64, "div.s64 %0, %1, %2;") \
  OP2(div_u64, i64, i64, i64, "div.u64 %0, %1, %2;") \
  OP2(rem_s64, i64, i64, i64, "rem.s64 %0, %1, %2;") \
  OP2(rem_u64, i64, i64, i64, "rem.u64 %0, %1, %2;") \
  OP2(div_s16, i16, i16, i16, "div.s16 %0, %1, %2;") \
  OP2(rem_u16, i16, i16, i16, "rem.u16 %0, %1, %2;") \
  OP2(min_s32, i32, i32, i32, "min.s32 %0, %1, %2;") \
  OP2(max_u32, i32, i32, i32, "max.u32 %0, %1, %2;") \
  OP2(min_u64, i64, i64, i64, "min.u64 %0, %1, %2;") \
  OP2(max_s64, i64, i64, i64, "max.s64 %0, %1, %2;") \
  OP2(max_relu_s32, i32, i32, i32, "max.relu.s32 %0, %1, %2;") \
  OP2(min_relu_s16x2, i32, i32, i32, "min.relu.s16x2 %0, %1, %2;") \
  OP2(max_u16x2, i32, i32, i32, "max.u16x2 %0, %1, %2;") \
  OP1(abs_s32, i32, i32, "abs.s32 %0, %1;") \
  OP1(abs_s64, i64, i64, "abs.s64 %0, %1;") \
  OP1(neg_s32, i32, i32, "neg.s32 %0, %1;") \
  OP3(sad_s32, i32, i32, i32, i32, "sad.s32 %0, %1, %2, %3;") \
  OP3(sad_u32, i32, i32, i32, i32, "sad.u32 %0, %1, %2, %3;") \
  OP3(sad_s16, i16, i16, i16, i16, "sad.s16 %0, %1, %2, %3;") \
  OP3(dp4a_s32_s32, i32, i32, i32, i32, "dp4a.s32.s32 %0, %1, %2, %3;") \
  OP3(dp4a_u32_u32, i32, i32, i32, i32, "dp4a.u32.u32 %0, %1, %2, %3;") \
  OP3(dp4a_s32_u32, i32, i32, i32, i32, "dp4a.s32.u32 %0, %1, %2, %3;") \
  OP3(dp2a_lo_s32_u32, i32, i32, i32, i32, "dp2a.lo.s32.u32 %0, %1, %2, %3;") \
  OP3(dp2a_hi_u32_s32, i32, i32, i32, i32, "dp2a.hi.u32.s32 %0, %1, %2, %3;") \
  OP2(add_carry_chain, i64, i64, i64, \
      "{.reg .u32 al, ah, bl, bh, dl, dh, c; mov.b64 {al, ah}, %1; mov.b64 {bl, bh}, %2;" \
      " add.cc.u32 dl, al, bl; addc.cc.u32 dh, ah, bh; addc.u32 c, 0, 7; xor.b32 dl, dl, c; mov.b64 %0, {dl, dh};}") \
  OP2(sub_borrow_chain, i64, i64, i64, \
      "{.reg .u32 al, ah, bl, bh, dl, dh, c; mov.b64 {al, ah}, %1; mov.b64 {bl, bh}, %2;" \
      " sub.cc.u32 dl, al, bl; subc.cc.u32 dh, ah, bh; subc.u32 c, 0, 0; xor.b32 dl, dl, c; mov.b64 %0, {dl, dh};}") \
  OP3(mad_carry_chain, i64, i32, i32, i64, \
      "{.reg .u32 cl, ch, dl, dh, e; mov.b64 {cl, ch}, %3; mad.lo.cc.u32 dl, %1, %2, cl;" \
      " madc.hi.cc.u32 dh, %1, %2, ch; addc.u32 e, 0, 0; xor.b32 dl, dl, e; mov.b64 %0, {dl, dh};}") \
  OP2(add_carry_chain_64, i64, i64, i64, \
      "{.reg .u64 d, e; add.cc.u64 d, %1, %2; addc.u64 e, %1, 0; xor.b64 %0, d, e;}") \
  OP2(setp_s32, i32, i32, i32, \
      "{.reg .pred p, q; .reg .u32 t; mov.u32 %0, 0; setp.lt.s32 p|q, %1, %2; @p or.b32 %0, %0, 1; @q or.b32 %0, %0, 2;" \
      " setp.ge.s32 p, %1, %2; @p or.b32 %0, %0, 4; setp.lo.u32 p, %1, %2; @p or.b32 %0, %0, 8;" \
      " setp.hs.u32 p, %1, %2; @p or.b32 %0, %0, 16; setp.eq.s32 p, %1, %2; @p or.b32 %0, %0, 32;" \
      " setp.gt.and.s32 p|q, %1, %2, p; @p or.b32 %0, %0, 64; @q or.b32 %0, %0, 128;" \
      " setp.ne.xor.s32 p|q, %1, %2, q; @p or.b32 %0, %0, 256; @q or.b32 %0, %0, 512;}") \
  OP2(set_lt_u32_s32, i32, i32, i32, "set.lt.u32.s32 %0, %1, %2;") \
  OP2(set_ge_f32_u32, f32, i32, i32, "set.ge.f32.u32 %0, %1, %2;") \
  OP3(slct_u32_s32, i32, i32, i32, i32, "slct.u32.s32 %0, %1, %2, %3;") \
  OP3(slct_b32_f32, i32, i32, i32, f32, "slct.ftz.b32.f32 %0, %1, %2, %3;")
// clang-format on

LIST(OP1, OP2, OP3)
}  // namespace

void integer_cases(Table& table) { LIST(ADD_OP, ADD_OP, ADD_OP) }

}  // namespace conformance
