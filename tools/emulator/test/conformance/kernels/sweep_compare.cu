// set, setp, slct and selp in every type, comparison and combination (PTX ISA 9.7.5, 9.7.6).
#include "sweep.cuh"

namespace conformance {
namespace {

#define EQUALITIES(X, ...) X(eq, __VA_ARGS__) X(ne, __VA_ARGS__)
#define ORDERED(X, ...) \
  EQUALITIES(X, __VA_ARGS__) X(lt, __VA_ARGS__) X(le, __VA_ARGS__) X(gt, __VA_ARGS__) X(ge, __VA_ARGS__)
#define UNSIGNED(X, ...) \
  ORDERED(X, __VA_ARGS__) X(lo, __VA_ARGS__) X(ls, __VA_ARGS__) X(hi, __VA_ARGS__) X(hs, __VA_ARGS__)
#define FLOATING(X, ...)                                                                              \
  ORDERED(X, __VA_ARGS__)                                                                             \
  X(equ, __VA_ARGS__) X(neu, __VA_ARGS__) X(ltu, __VA_ARGS__) X(leu, __VA_ARGS__) X(gtu, __VA_ARGS__) \
      X(geu, __VA_ARGS__) X(num, __VA_ARGS__) X(nan, __VA_ARGS__)

// set into the three types, setp with both results, and both with each combination of a third predicate
// (here: the lane is above 7).
#define ODD "{.reg .pred o, p, q; .reg .b32 l, s, t; mov.u32 l, %%laneid; "
#define SET(CMP, FORM, KIND, TYPE, FTZ, TAG)                                                       \
  FORM(set_##CMP##_u32_##TYPE##TAG, i32, KIND, KIND, "set." #CMP FTZ ".u32." #TYPE " %0, %1, %2;") \
  FORM(set_##CMP##_s32_##TYPE##TAG, i32, KIND, KIND, "set." #CMP FTZ ".s32." #TYPE " %0, %1, %2;") \
  FORM(set_##CMP##_f32_##TYPE##TAG, i32, KIND, KIND, "set." #CMP FTZ ".f32." #TYPE " %0, %1, %2;") \
  FORM(setp_##CMP##_##TYPE##TAG, i32, KIND, KIND,                                                  \
       ODD "setp." #CMP FTZ "." #TYPE                                                              \
           " p|q, %1, %2; selp.b32 s, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 %0, s, t;}")
#define COMBINE(CMP, FORM, KIND, TYPE, FTZ, TAG, BOOL)                                       \
  FORM(set_##CMP##_##BOOL##_u32_##TYPE##TAG, i32, KIND, KIND,                                \
       ODD "setp.ne.s32 o, l, 7; set." #CMP "." #BOOL FTZ ".u32." #TYPE " %0, %1, %2, !o;}") \
  FORM(set_##CMP##_##BOOL##_f32_##TYPE##TAG, i32, KIND, KIND,                                \
       ODD "setp.gt.s32 o, l, 7; set." #CMP "." #BOOL FTZ ".f32." #TYPE " %0, %1, %2, o;}")  \
  FORM(setp_##CMP##_##BOOL##_##TYPE##TAG, i32, KIND, KIND,                                   \
       ODD "setp.gt.s32 o, l, 7; setp." #CMP "." #BOOL FTZ "." #TYPE                         \
           " p|q, %1, %2, !o; selp.b32 s, 1, 0, p;"                                          \
           " selp.b32 t, 2, 0, q; or.b32 %0, s, t;}")
#define COMBINED(FORM, KIND, TYPE, FTZ, TAG)           \
  EQUALITIES(COMBINE, FORM, KIND, TYPE, FTZ, TAG, and) \
  EQUALITIES(COMBINE, FORM, KIND, TYPE, FTZ, TAG, or) EQUALITIES(COMBINE, FORM, KIND, TYPE, FTZ, TAG, xor)
#define U16(FORM) UNSIGNED(SET, FORM, i16, u16, "", _) COMBINED(FORM, i16, u16, "", _)
#define S16(FORM) ORDERED(SET, FORM, i16, s16, "", _) COMBINED(FORM, i16, s16, "", _)
#define B16(FORM) EQUALITIES(SET, FORM, i16, b16, "", _) COMBINED(FORM, i16, b16, "", _)
#define U32(FORM) UNSIGNED(SET, FORM, i32, u32, "", _) COMBINED(FORM, i32, u32, "", _)
#define S32(FORM) ORDERED(SET, FORM, i32, s32, "", _) COMBINED(FORM, i32, s32, "", _)
#define B32(FORM) EQUALITIES(SET, FORM, i32, b32, "", _) COMBINED(FORM, i32, b32, "", _)
#define U64(FORM) UNSIGNED(SET, FORM, i64, u64, "", _) COMBINED(FORM, i64, u64, "", _)
#define S64(FORM) ORDERED(SET, FORM, i64, s64, "", _) COMBINED(FORM, i64, s64, "", _)
#define B64(FORM) EQUALITIES(SET, FORM, i64, b64, "", _) COMBINED(FORM, i64, b64, "", _)
#define F32(FORM) FLOATING(SET, FORM, f32, f32, "", _) COMBINED(FORM, f32, f32, "", _)
#define F32_FTZ(FORM) FLOATING(SET, FORM, f32, f32, ".ftz", _ftz) COMBINED(FORM, f32, f32, ".ftz", _ftz)
#define F64(FORM) FLOATING(SET, FORM, f64, f64, "", _) COMBINED(FORM, f64, f64, "", _)

// Two halves in one register, and one.
#define HALVES(CMP, FORM, KIND, TYPE, FTZ, TAG)                                                       \
  FORM(set2_##CMP##_##TYPE##TAG, i32, KIND, KIND, "set." #CMP FTZ "." #TYPE "." #TYPE " %0, %1, %2;") \
  FORM(setp2_##CMP##_##TYPE##TAG, i32, KIND, KIND,                                                    \
       ODD "setp." #CMP FTZ "." #TYPE                                                                 \
           " p|q, %1, %2; selp.b32 s, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 %0, s, t;}")               \
  FORM(setp2_##CMP##_and_##TYPE##TAG, i32, KIND, KIND,                                                \
       ODD "setp.gt.s32 o, l, 7; setp." #CMP ".and" FTZ "." #TYPE                                     \
           " p|q, %1, %2, o; selp.b32 s, 1, 0, p;"                                                    \
           " selp.b32 t, 2, 0, q; or.b32 %0, s, t;}")
#define HALF(CMP, FORM, KIND, TYPE, FTZ, TAG)                                                         \
  FORM(set1_##CMP##_##TYPE##TAG, i16, KIND, KIND, "set." #CMP FTZ "." #TYPE "." #TYPE " %0, %1, %2;") \
  FORM(set1_##CMP##_u16_##TYPE##TAG, i16, KIND, KIND, "set." #CMP FTZ ".u16." #TYPE " %0, %1, %2;")   \
  FORM(set1_##CMP##_s32_##TYPE##TAG, i32, KIND, KIND, "set." #CMP FTZ ".s32." #TYPE " %0, %1, %2;")   \
  FORM(setp1_##CMP##_or_##TYPE##TAG, i32, KIND, KIND,                                                 \
       ODD "setp.gt.s32 o, l, 7; setp." #CMP ".or" FTZ "." #TYPE " p, %1, %2, o; selp.b32 %0, 1, 0, p;}")
#define F16X2(FORM) \
  FLOATING(HALVES, FORM, f16x2, f16x2, "", _) FLOATING(HALVES, FORM, f16x2, f16x2, ".ftz", _ftz)
#define BF16X2(FORM) FLOATING(HALVES, FORM, bf16x2, bf16x2, "", _)
#define F16(FORM) FLOATING(HALF, FORM, f16, f16, "", _) FLOATING(HALF, FORM, f16, f16, ".ftz", _ftz)
#define BF16(FORM) FLOATING(HALF, FORM, bf16, bf16, "", _)
#define INTO_F16_16(FORM)                                           \
  FORM(set_lt_f16_s16, i16, i16, i16, "set.lt.f16.s16 %0, %1, %2;") \
  FORM(set_hi_f16_u16, i16, i16, i16, "set.hi.f16.u16 %0, %1, %2;") \
      FORM(set_eq_f16_b16, i16, i16, i16, "set.eq.f16.b16 %0, %1, %2;")
#define INTO_F16_32(FORM)                                           \
  FORM(set_lt_f16_s32, i16, i32, i32, "set.lt.f16.s32 %0, %1, %2;") \
  FORM(set_ge_f16_u32, i16, i32, i32, "set.ge.f16.u32 %0, %1, %2;") \
      FORM(set_ne_and_f16_b32, i16, i32, i32, ODD "setp.gt.s32 o, l, 7; set.ne.and.f16.b32 %0, %1, %2, o;}")

#define SELECT(FORM, KIND, TYPE, BITS)                                                 \
  FORM(slct_##TYPE##_s32, KIND, KIND, KIND, i32, "slct." #TYPE ".s32 %0, %1, %2, %3;") \
  FORM(selp_##TYPE, KIND, KIND, KIND, i32,                                             \
       "{.reg .pred p; setp.lt.s32 p, %3, 5; selp." #TYPE " %0, %1, %2, p;}")
#define SELECT_FLOAT(FORM, KIND, TYPE)                                                 \
  FORM(slct_##TYPE##_f32, KIND, KIND, KIND, f32, "slct." #TYPE ".f32 %0, %1, %2, %3;") \
  FORM(slct_ftz_##TYPE##_f32, KIND, KIND, KIND, f32, "slct.ftz." #TYPE ".f32 %0, %1, %2, %3;")
#define SELECT16(FORM) SELECT(FORM, i16, u16, ) SELECT(FORM, i16, s16, ) SELECT(FORM, i16, b16, )
#define SELECT32(FORM) SELECT(FORM, i32, u32, ) SELECT(FORM, i32, s32, ) SELECT(FORM, i32, b32, )
#define SELECT64(FORM) SELECT(FORM, i64, u64, ) SELECT(FORM, i64, s64, ) SELECT(FORM, i64, b64, )
#define SELECT_F16(FORM) \
  SELECT_FLOAT(FORM, i16, u16) SELECT_FLOAT(FORM, i16, s16) SELECT_FLOAT(FORM, i16, b16)
#define SELECT_F32(FORM) \
  SELECT_FLOAT(FORM, i32, u32) SELECT_FLOAT(FORM, i32, s32) SELECT_FLOAT(FORM, i32, b32)
#define SELECT_F64(FORM) \
  SELECT_FLOAT(FORM, i64, u64) SELECT_FLOAT(FORM, i64, s64) SELECT_FLOAT(FORM, i64, b64)

U16(OP2)
S16(OP2) B16(OP2) U32(OP2) S32(OP2) B32(OP2) U64(OP2) S64(OP2) B64(OP2) F32(OP2) F32_FTZ(OP2) F64(OP2)
    F16X2(OP2) BF16X2(OP2) F16(OP2) BF16(OP2) INTO_F16_16(OP2) INTO_F16_32(OP2) SELECT16(OP3) SELECT32(OP3)
        SELECT64(OP3) SELECT_F16(OP3) SELECT_F32(OP3) SELECT_F64(OP3)
}  // namespace

void sweep_compare_cases(Table& table) {
#define ADD(NAME, LIST) add_sweep<LIST(NAME_OF) End>(table, NAME);
  ADD("set_u16", U16)
  ADD("set_s16", S16) ADD("set_b16", B16) ADD("set_u32", U32) ADD("set_s32", S32) ADD("set_b32", B32)
      ADD("set_u64", U64) ADD("set_s64", S64) ADD("set_b64", B64) ADD("set_f32", F32)
          ADD("set_ftz_f32", F32_FTZ) ADD("set_f64", F64) ADD("set_f16x2", F16X2) ADD("set_bf16x2", BF16X2)
              ADD("set_f16", F16) ADD("set_bf16", BF16) ADD("set_f16_of_16_bits", INTO_F16_16)
                  ADD("set_f16_of_32_bits", INTO_F16_32) ADD("select_16_bits", SELECT16)
                      ADD("select_32_bits", SELECT32) ADD("select_64_bits", SELECT64)
                          ADD("select_16_bits_f32", SELECT_F16) ADD("select_32_bits_f32", SELECT_F32)
                              ADD("select_64_bits_f32", SELECT_F64)
}

}  // namespace conformance
