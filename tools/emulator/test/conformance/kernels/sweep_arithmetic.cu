// Arithmetic with every modifier that ptxas takes (PTX ISA 9.7.1 to 9.7.4): rounding, .ftz, .sat, .relu,
// .oob, .NaN, .xorsign.abs, carries and wide products.
#include "sweep.cuh"

namespace conformance {
namespace {

#define SAT(X, ROUND, FTZ, TAG) X(ROUND, FTZ, "", TAG) X(ROUND, FTZ ".sat", "", TAG##_sat)
#define FTZ_SAT(X, ROUND, TAG) SAT(X, ROUND, "", TAG) SAT(X, ROUND, ".ftz", TAG##_ftz)
#define F32_MODIFIERS(X) \
  FTZ_SAT(X, ".rn", rn) FTZ_SAT(X, ".rz", rz) FTZ_SAT(X, ".rm", rm) FTZ_SAT(X, ".rp", rp)

// No rounding given: nearest, and ptxas may fuse; the results here are of single instructions.
#define F32_TWO(ROUND, MORE, LAST, TAG)                                          \
  OPERATION(add_##TAG##_f32, f32, f32, f32, "add" ROUND MORE ".f32 %0, %1, %2;") \
  OPERATION(sub_##TAG##_f32, f32, f32, f32, "sub" ROUND MORE ".f32 %0, %1, %2;") \
  OPERATION(mul_##TAG##_f32, f32, f32, f32, "mul" ROUND MORE ".f32 %0, %1, %2;")
#define F32_THREE(ROUND, MORE, LAST, TAG)                                                 \
  OPERATION(fma_##TAG##_f32, f32, f32, f32, f32, "fma" ROUND MORE ".f32 %0, %1, %2, %3;") \
  OPERATION(mad_##TAG##_f32, f32, f32, f32, f32, "mad" ROUND MORE ".f32 %0, %1, %2, %3;")
#define F32_PLAIN                                                                              \
  FTZ_SAT(F32_TWO, "", plain)                                                                  \
  OPERATION(min_xorsign_f32, f32, f32, f32, "min.xorsign.abs.f32 %0, %1, %2;")                 \
  OPERATION(max_xorsign_f32, f32, f32, f32, "max.xorsign.abs.f32 %0, %1, %2;")                 \
  OPERATION(min_ftz_xorsign_f32, f32, f32, f32, "min.ftz.xorsign.abs.f32 %0, %1, %2;")         \
  OPERATION(max_ftz_xorsign_f32, f32, f32, f32, "max.ftz.xorsign.abs.f32 %0, %1, %2;")         \
  OPERATION(min_nan_xorsign_f32, f32, f32, f32, "min.NaN.xorsign.abs.f32 %0, %1, %2;")         \
  OPERATION(max_nan_xorsign_f32, f32, f32, f32, "max.NaN.xorsign.abs.f32 %0, %1, %2;")         \
  OPERATION(min_ftz_nan_f32, f32, f32, f32, "min.ftz.NaN.f32 %0, %1, %2;")                     \
  OPERATION(max_ftz_nan_f32, f32, f32, f32, "max.ftz.NaN.f32 %0, %1, %2;")                     \
  OPERATION(min_ftz_nan_xorsign_f32, f32, f32, f32, "min.ftz.NaN.xorsign.abs.f32 %0, %1, %2;") \
  OPERATION(max_ftz_nan_xorsign_f32, f32, f32, f32, "max.ftz.NaN.xorsign.abs.f32 %0, %1, %2;") \
  OPERATION(div_rz_ftz_f32, f32, f32, f32, "div.rz.ftz.f32 %0, %1, %2;")                       \
  OPERATION(div_rm_ftz_f32, f32, f32, f32, "div.rm.ftz.f32 %0, %1, %2;")                       \
  OPERATION(div_rp_ftz_f32, f32, f32, f32, "div.rp.ftz.f32 %0, %1, %2;")
#define F32_ONE                                                               \
  OPERATION(rcp_rz_ftz_f32, f32, f32, "rcp.rz.ftz.f32 %0, %1;")               \
  OPERATION(rcp_rm_ftz_f32, f32, f32, "rcp.rm.ftz.f32 %0, %1;")               \
      OPERATION(rcp_rp_ftz_f32, f32, f32, "rcp.rp.ftz.f32 %0, %1;")           \
          OPERATION(sqrt_rz_ftz_f32, f32, f32, "sqrt.rz.ftz.f32 %0, %1;")     \
              OPERATION(sqrt_rm_ftz_f32, f32, f32, "sqrt.rm.ftz.f32 %0, %1;") \
                  OPERATION(sqrt_rp_ftz_f32, f32, f32, "sqrt.rp.ftz.f32 %0, %1;")
#define F64_THREE                                                             \
  OPERATION(mad_rn_f64, f64, f64, f64, f64, "mad.rn.f64 %0, %1, %2, %3;")     \
  OPERATION(mad_rz_f64, f64, f64, f64, f64, "mad.rz.f64 %0, %1, %2, %3;")     \
      OPERATION(mad_rm_f64, f64, f64, f64, f64, "mad.rm.f64 %0, %1, %2, %3;") \
          OPERATION(mad_rp_f64, f64, f64, f64, f64, "mad.rp.f64 %0, %1, %2, %3;")

// Halves, one and two a register.
#define HALF_TWO(KIND, TYPE)     \
  SAT_F16(KIND, TYPE, "", plain) \
  SAT_F16(KIND, TYPE, ".rn", rn) HALF_MINMAX(KIND, TYPE, "", ) HALF_MINMAX(KIND, TYPE, ".ftz", _ftz)
#define SAT_F16(KIND, TYPE, ROUND, TAG)                                                           \
  ARITHMETIC(KIND, TYPE, ROUND, TAG)                                                              \
  ARITHMETIC(KIND, TYPE, ROUND ".ftz", TAG##_ftz) ARITHMETIC(KIND, TYPE, ROUND ".sat", TAG##_sat) \
      ARITHMETIC(KIND, TYPE, ROUND ".ftz.sat", TAG##_ftz_sat)
#define ARITHMETIC(KIND, TYPE, MORE, TAG)                                              \
  OPERATION(add_##TAG##_##TYPE, KIND, KIND, KIND, "add" MORE "." #TYPE " %0, %1, %2;") \
  OPERATION(sub_##TAG##_##TYPE, KIND, KIND, KIND, "sub" MORE "." #TYPE " %0, %1, %2;") \
  OPERATION(mul_##TAG##_##TYPE, KIND, KIND, KIND, "mul" MORE "." #TYPE " %0, %1, %2;")
#define HALF_MINMAX(KIND, TYPE, FTZ, TAG)                                                                \
  OPERATION(min##TAG##_##TYPE, KIND, KIND, KIND, "min" FTZ "." #TYPE " %0, %1, %2;")                     \
  OPERATION(max##TAG##_##TYPE, KIND, KIND, KIND, "max" FTZ "." #TYPE " %0, %1, %2;")                     \
  OPERATION(min_nan##TAG##_##TYPE, KIND, KIND, KIND, "min" FTZ ".NaN." #TYPE " %0, %1, %2;")             \
  OPERATION(max_nan##TAG##_##TYPE, KIND, KIND, KIND, "max" FTZ ".NaN." #TYPE " %0, %1, %2;")             \
  OPERATION(min_xorsign##TAG##_##TYPE, KIND, KIND, KIND, "min" FTZ ".xorsign.abs." #TYPE " %0, %1, %2;") \
  OPERATION(max_xorsign##TAG##_##TYPE, KIND, KIND, KIND, "max" FTZ ".xorsign.abs." #TYPE " %0, %1, %2;") \
  OPERATION(min_nan_xorsign##TAG##_##TYPE, KIND, KIND, KIND,                                             \
            "min" FTZ ".NaN.xorsign.abs." #TYPE " %0, %1, %2;")                                          \
  OPERATION(max_nan_xorsign##TAG##_##TYPE, KIND, KIND, KIND,                                             \
            "max" FTZ ".NaN.xorsign.abs." #TYPE " %0, %1, %2;")
#define HALF_THREE(KIND, TYPE)                                                                \
  OPERATION(fma_##TYPE, KIND, KIND, KIND, KIND, "fma.rn." #TYPE " %0, %1, %2, %3;")           \
  OPERATION(fma_relu_##TYPE, KIND, KIND, KIND, KIND, "fma.rn.relu." #TYPE " %0, %1, %2, %3;") \
  OPERATION(fma_oob_##TYPE, KIND, KIND, KIND, KIND, "fma.rn.oob." #TYPE " %0, %1, %2, %3;")   \
  OPERATION(fma_oob_relu_##TYPE, KIND, KIND, KIND, KIND, "fma.rn.oob.relu." #TYPE " %0, %1, %2, %3;")
// The NaN of filled elements as the first, second or third operand, by lane.
#define OOB_NAN(KIND, TYPE, BITS, PATTERN)                                  \
  OPERATION(fma_oob_nan_##TYPE, KIND, KIND, KIND, KIND,                     \
            OOB_CHOICE(BITS, PATTERN) "fma.rn.oob." #TYPE " %0, a, b, c;}") \
  OPERATION(fma_oob_relu_nan_##TYPE, KIND, KIND, KIND, KIND,                \
            OOB_CHOICE(BITS, PATTERN) "fma.rn.oob.relu." #TYPE " %0, a, b, c;}")
#define OOB_CHOICE(BITS, PATTERN)                                                                           \
  "{.reg .pred p, q, r; .reg .b32 l; .reg .b" BITS " a, b, c, n; mov.b" BITS " n, " PATTERN                 \
  "; mov.u32 l, %%laneid; and.b32 l, l, 3;"                                                                 \
  " setp.eq.u32 p, l, 1; setp.eq.u32 q, l, 2; setp.eq.u32 r, l, 3; selp.b" BITS " a, n, %1, p; selp.b" BITS \
  " b, n, %2, q;"                                                                                           \
  " selp.b" BITS " c, n, %3, r; "
#define F16_THREE(KIND, TYPE)                                                                       \
  HALF_THREE(KIND, TYPE)                                                                            \
  OPERATION(fma_ftz_##TYPE, KIND, KIND, KIND, KIND, "fma.rn.ftz." #TYPE " %0, %1, %2, %3;")         \
  OPERATION(fma_sat_##TYPE, KIND, KIND, KIND, KIND, "fma.rn.sat." #TYPE " %0, %1, %2, %3;")         \
  OPERATION(fma_ftz_sat_##TYPE, KIND, KIND, KIND, KIND, "fma.rn.ftz.sat." #TYPE " %0, %1, %2, %3;") \
  OPERATION(fma_ftz_relu_##TYPE, KIND, KIND, KIND, KIND, "fma.rn.ftz.relu." #TYPE " %0, %1, %2, %3;")
#define BF16_TWO(KIND, TYPE) \
  ARITHMETIC(KIND, TYPE, "", plain) ARITHMETIC(KIND, TYPE, ".rn", rn) HALF_MINMAX(KIND, TYPE, "", )

// Integers.
#define INTEGERS_TWO(KIND, WIDE, UNSIGNED, SIGNED) \
  INTEGER_TWO(KIND, WIDE, UNSIGNED) INTEGER_TWO(KIND, WIDE, SIGNED)
#define INTEGER_TWO(KIND, WIDE, TYPE)                                                \
  OPERATION(add_##TYPE, KIND, KIND, KIND, "add." #TYPE " %0, %1, %2;")               \
  OPERATION(sub_##TYPE, KIND, KIND, KIND, "sub." #TYPE " %0, %1, %2;")               \
      OPERATION(mul_lo_##TYPE, KIND, KIND, KIND, "mul.lo." #TYPE " %0, %1, %2;")     \
          OPERATION(mul_hi_##TYPE, KIND, KIND, KIND, "mul.hi." #TYPE " %0, %1, %2;") \
              OPERATION(min_##TYPE, KIND, KIND, KIND, "min." #TYPE " %0, %1, %2;")   \
                  OPERATION(max_##TYPE, KIND, KIND, KIND, "max." #TYPE " %0, %1, %2;")
#define INTEGERS_THREE(KIND, UNSIGNED, SIGNED) INTEGER_THREE(KIND, UNSIGNED) INTEGER_THREE(KIND, SIGNED)
#define INTEGER_THREE(KIND, TYPE)                                                      \
  OPERATION(mad_lo_##TYPE, KIND, KIND, KIND, KIND, "mad.lo." #TYPE " %0, %1, %2, %3;") \
  OPERATION(mad_hi_##TYPE, KIND, KIND, KIND, KIND, "mad.hi." #TYPE " %0, %1, %2, %3;") \
  OPERATION(sad_##TYPE, KIND, KIND, KIND, KIND, "sad." #TYPE " %0, %1, %2, %3;")
#define PAIRS_TWO                                                                                    \
  OPERATION(add_u16x2, i32, i32, i32, "add.u16x2 %0, %1, %2;")                                       \
  OPERATION(min_u16x2, i32, i32, i32, "min.u16x2 %0, %1, %2;")                                       \
      OPERATION(min_s16x2, i32, i32, i32, "min.s16x2 %0, %1, %2;")                                   \
          OPERATION(max_s16x2, i32, i32, i32, "max.s16x2 %0, %1, %2;")                               \
              OPERATION(min_relu_s16x2, i32, i32, i32, "min.relu.s16x2 %0, %1, %2;")                 \
                  OPERATION(max_relu_s16x2, i32, i32, i32, "max.relu.s16x2 %0, %1, %2;")             \
                      OPERATION(min_relu_s32, i32, i32, i32, "min.relu.s32 %0, %1, %2;")             \
                          OPERATION(max_relu_s32, i32, i32, i32, "max.relu.s32 %0, %1, %2;")         \
                              OPERATION(szext_wrap_s32, i32, i32, i32, "szext.wrap.s32 %0, %1, %2;") \
                                  OPERATION(szext_clamp_u32, i32, i32, i32, "szext.clamp.u32 %0, %1, %2;")
#define PRODUCTS_THREE                                                                                       \
  OPERATION(mad24_lo_u32, i32, i32, i32, i32, "mad24.lo.u32 %0, %1, %2, %3;")                                \
  OPERATION(mad24_hi_u32, i32, i32, i32, i32, "mad24.hi.u32 %0, %1, %2, %3;") OPERATION(                     \
      mad24_lo_s32, i32, i32, i32, i32, "mad24.lo.s32 %0, %1, %2, %3;")                                      \
      OPERATION(mad24_hi_s32, i32, i32, i32, i32, "mad24.hi.s32 %0, %1, %2, %3;") OPERATION(                 \
          mad24_hi_sat_s32, i32, i32, i32, i32, "mad24.hi.sat.s32 %0, %1, %2, %3;")                          \
          OPERATION(mad_hi_sat_s32, i32, i32, i32, i32, "mad.hi.sat.s32 %0, %1, %2, %3;") OPERATION(         \
              dp4a_us, i32, i32, i32, i32,                                                                   \
              "dp4a.u32.s32 %0, %1, %2, %3;") OPERATION(dp4a_su, i32, i32, i32, i32,                         \
                                                        "dp4a.s32.u32 %0, %1, %2, %3;")                      \
              OPERATION(dp2a_lo_uu, i32, i32, i32, i32, "dp2a.lo.u32.u32 %0, %1, %2, %3;") OPERATION(        \
                  dp2a_lo_us, i32, i32, i32, i32,                                                            \
                  "dp2a.lo.u32.s32 %0, %1, %2, %3;") OPERATION(dp2a_lo_su, i32, i32, i32, i32,               \
                                                               "dp2a.lo.s32.u32 %0, %1, %2, %3;")            \
                  OPERATION(dp2a_lo_ss, i32, i32, i32, i32, "dp2a.lo.s32.s32 %0, %1, %2, %3;") OPERATION(    \
                      dp2a_hi_uu, i32, i32, i32, i32,                                                        \
                      "dp2a.hi.u32.u32 %0, %1, %2, %3;") OPERATION(dp2a_hi_us, i32, i32, i32, i32,           \
                                                                   "dp2a.hi.u32.s32 %0, %1, %2, %3;")        \
                      OPERATION(dp2a_hi_su, i32, i32, i32, i32, "dp2a.hi.s32.u32 %0, %1, %2, %3;")           \
                          OPERATION(dp2a_hi_ss, i32, i32, i32, i32, "dp2a.hi.s32.s32 %0, %1, %2, %3;")       \
                              OPERATION(                                                                     \
                                  lop3_and_pred, i32, i32, i32, i32,                                         \
                                  "{.reg .pred p, q; .reg .b32 d, s; setp.ne.b32 q, %1, %2; lop3.and.b32 "   \
                                  "d|p, %1, %2, %3, 0x96, !q; selp.b32 s, 3, 5, p; xor.b32 %0, d, s;}")      \
                                  OPERATION(lop3_or_pred, i32, i32, i32, i32,                                \
                                            "{.reg .pred p, q; setp.lt.s32 q, %1, %2; lop3.or.b32 _|p, %1, " \
                                            "%2, %3, 0x01, q; selp.b32 %0, 3, 5, p;}")
// Chains: a carry made, used and passed on. TYPE of every step; the last step tells the carry.
#define CARRY(KIND, TYPE, BITS)                                                                            \
  OPERATION(add_chain_##TYPE, KIND, KIND, KIND, KIND,                                                      \
            "{.reg .b" #BITS " l, h; add.cc." #TYPE " l, %1, %2; addc.cc." #TYPE " h, %2, %3; addc." #TYPE \
            " %0, l, h;}")                                                                                 \
  OPERATION(sub_chain_##TYPE, KIND, KIND, KIND, KIND,                                                      \
            "{.reg .b" #BITS " l, h; sub.cc." #TYPE " l, %1, %2; subc.cc." #TYPE " h, %2, %3; subc." #TYPE \
            " %0, l, h;}")                                                                                 \
  OPERATION(mad_lo_chain_##TYPE, KIND, KIND, KIND, KIND,                                                   \
            "{.reg .b" #BITS " l, h; mad.lo.cc." #TYPE " l, %1, %2, %3; madc.lo.cc." #TYPE                 \
            " h, %2, %3, l; madc.lo." #TYPE " %0, l, h, %1;}")                                             \
  OPERATION(mad_hi_chain_##TYPE, KIND, KIND, KIND, KIND,                                                   \
            "{.reg .b" #BITS " l, h; mad.hi.cc." #TYPE " l, %1, %2, %3; madc.hi.cc." #TYPE                 \
            " h, %2, %3, l; madc.hi." #TYPE " %0, l, h, %1;}")
#define CARRY32 CARRY(i32, u32, 32) CARRY(i32, s32, 32)
#define CARRY64 CARRY(i64, u64, 64) CARRY(i64, s64, 64)
#define WIDE16                                                                \
  OPERATION(mad_wide_u16, i32, i16, i16, i32, "mad.wide.u16 %0, %1, %2, %3;") \
  OPERATION(mad_wide_s16, i32, i16, i16, i32, "mad.wide.s16 %0, %1, %2, %3;")
#define DIVIDE16                                                                                  \
  OPERATION(div_u16, i16, i16, i16, "{.reg .u16 d; or.b16 d, %2, 1; div.u16 %0, %1, d;}")         \
  OPERATION(div_s16, i16, i16, i16, "{.reg .u16 d; or.b16 d, %2, 1; div.s16 %0, %1, d;}")         \
      OPERATION(rem_u16, i16, i16, i16, "{.reg .u16 d; or.b16 d, %2, 1; rem.u16 %0, %1, d;}")     \
          OPERATION(rem_s16, i16, i16, i16, "{.reg .u16 d; or.b16 d, %2, 1; rem.s16 %0, %1, d;}") \
              OPERATION(or_b16, i16, i16, i16, "or.b16 %0, %1, %2;")                              \
                  OPERATION(xor_b16, i16, i16, i16, "xor.b16 %0, %1, %2;")
#define ONE16                                                                                     \
  OPERATION(abs_s16, i16, i16, "abs.s16 %0, %1;")                                                 \
  OPERATION(neg_s16, i16, i16, "neg.s16 %0, %1;") OPERATION(not_b16, i16, i16, "not.b16 %0, %1;") \
      OPERATION(cnot_b16, i16, i16, "cnot.b16 %0, %1;")
#define ONE64                                                                                           \
  OPERATION(neg_s64, i64, i64, "neg.s64 %0, %1;")                                                       \
  OPERATION(cnot_b64, i64, i64, "cnot.b64 %0, %1;") OPERATION(bfind_s64, i32, i64, "bfind.s64 %0, %1;") \
      OPERATION(bfind_shiftamt_u64, i32, i64, "bfind.shiftamt.u64 %0, %1;")

#define OOB_F16 OOB_NAN(f16, f16, "16", "0x7ff7")
#define OOB_F16X2 OOB_NAN(f16x2, f16x2, "32", "0x7ff7fff7")
#define OOB_BF16 OOB_NAN(bf16, bf16, "16", "0x7ff7")
#define OOB_BF16X2 OOB_NAN(bf16x2, bf16x2, "32", "0xfff77ff7")
#define F32_TWO_ALL F32_MODIFIERS(F32_TWO) F32_PLAIN
#define F32_THREE_ALL F32_MODIFIERS(F32_THREE)
#define F16_TWO_ALL                              \
  HALF_TWO(f16, f16)                             \
  OPERATION(abs_ftz_then_add_f16, f16, f16, f16, \
            "{.reg .b16 a; abs.ftz.f16 a, %1; neg.ftz.f16 a, a; add.f16 %0, a, %2;}")
#define F16X2_TWO_ALL                                    \
  HALF_TWO(f16x2, f16x2)                                 \
  OPERATION(abs_ftz_then_add_f16x2, f16x2, f16x2, f16x2, \
            "{.reg .b32 a; abs.ftz.f16x2 a, %1; neg.ftz.f16x2 a, a; add.f16x2 %0, a, %2;}")

#define OPERATION OP2
F32_TWO_ALL F16_TWO_ALL F16X2_TWO_ALL BF16_TWO(bf16, bf16) BF16_TWO(bf16x2, bf16x2)
    INTEGERS_TWO(i16, i32, u16, s16) INTEGERS_TWO(i32, i64, u32, s32)
        INTEGERS_TWO(i64, i64, u64, s64) PAIRS_TWO DIVIDE16
#undef OPERATION
#define OPERATION OP3
    F32_THREE_ALL F64_THREE F16_THREE(f16, f16) F16_THREE(f16x2, f16x2) HALF_THREE(bf16, bf16)
        HALF_THREE(bf16x2, bf16x2) OOB_F16 OOB_F16X2 OOB_BF16 OOB_BF16X2 INTEGERS_THREE(i16, u16, s16)
            INTEGERS_THREE(i32, u32, s32) INTEGERS_THREE(i64, u64, s64) PRODUCTS_THREE CARRY32 CARRY64 WIDE16
#undef OPERATION
#define OPERATION OP1
    F32_ONE ONE16 ONE64
#undef OPERATION
}  // namespace

void sweep_arithmetic_cases(Table& table) {
#define OPERATION(NAME, ...) NAME,
#define ADD(NAME, ...) add_sweep<__VA_ARGS__ End>(table, NAME);
  ADD("f32_two", F32_TWO_ALL)
  ADD("f32_three", F32_THREE_ALL) ADD("f32_one", F32_ONE) ADD("f64_three", F64_THREE)
      ADD("f16_two", F16_TWO_ALL) ADD("f16x2_two", F16X2_TWO_ALL) ADD("bf16_two", BF16_TWO(bf16, bf16))
          ADD("bf16x2_two", BF16_TWO(bf16x2, bf16x2)) ADD("f16_three", F16_THREE(f16, f16))
              ADD("f16x2_three", F16_THREE(f16x2, f16x2)) ADD("bf16_three", HALF_THREE(bf16, bf16))
                  ADD("bf16x2_three", HALF_THREE(bf16x2, bf16x2)) ADD("f16_oob", OOB_F16)
                      ADD("f16x2_oob", OOB_F16X2) ADD("bf16_oob", OOB_BF16) ADD("bf16x2_oob", OOB_BF16X2)
                          ADD("i16_two", INTEGERS_TWO(i16, i32, u16, s16))
                              ADD("i32_two", INTEGERS_TWO(i32, i64, u32, s32))
                                  ADD("i64_two", INTEGERS_TWO(i64, i64, u64, s64))
                                      ADD("i16_three", INTEGERS_THREE(i16, u16, s16)) ADD(
                                          "i32_three", INTEGERS_THREE(i32, u32, s32))
                                          ADD("i64_three", INTEGERS_THREE(i64, u64, s64)) ADD(
                                              "pairs_two", PAIRS_TWO) ADD("products_three", PRODUCTS_THREE)
                                              ADD("carry_32_bits", CARRY32) ADD("carry_64_bits", CARRY64)
                                                  ADD("wide_16_bits", WIDE16) ADD("i16_divide", DIVIDE16)
                                                      ADD("i16_one", ONE16) ADD("i64_one", ONE64)
}

}  // namespace conformance
