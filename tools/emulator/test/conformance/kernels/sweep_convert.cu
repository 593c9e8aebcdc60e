// cvt between all scalar types in every rounding mode, with .ftz and .sat (PTX ISA 9.7.9.21).
#include "sweep.cuh"

namespace conformance {
namespace {

#define INTEGERS(X, ...)                                                                             \
  X(u8, i16, __VA_ARGS__)                                                                            \
  X(s8, i16, __VA_ARGS__) X(u16, i16, __VA_ARGS__) X(s16, i16, __VA_ARGS__) X(u32, i32, __VA_ARGS__) \
      X(s32, i32, __VA_ARGS__) X(u64, i64, __VA_ARGS__) X(s64, i64, __VA_ARGS__)
#define CVT(D, KD, S, KS, MORE, TAG) \
  OPERATION(cvt##TAG##_##D##_##S, KD, KS, "cvt" MORE "." #D "." #S " %0, %1;")

// Integer to integer; .sat where it can change anything (ptxas refuses the rest).
#define RESIZE(D, KD, S, KS) CVT(D, KD, S, KS, "", )
#define FROM_I16                                                                          \
  INTEGERS(RESIZE, u8, i16)                                                               \
  INTEGERS(RESIZE, s8, i16) INTEGERS(RESIZE, u16, i16) INTEGERS(RESIZE, s16, i16)         \
      CVT(u8, i16, u16, i16, ".sat", _sat) CVT(s8, i16, u16, i16, ".sat", _sat)           \
          CVT(u8, i16, s16, i16, ".sat", _sat) CVT(s8, i16, s16, i16, ".sat", _sat)       \
              CVT(u16, i16, s16, i16, ".sat", _sat) CVT(s16, i16, u16, i16, ".sat", _sat) \
                  CVT(u32, i32, s8, i16, ".sat", _sat) CVT(u64, i64, s16, i16, ".sat", _sat)
#define FROM_I32                                                                                       \
  INTEGERS(RESIZE, u32, i32)                                                                           \
  INTEGERS(RESIZE, s32, i32) CVT(u8, i16, u32, i32, ".sat", _sat) CVT(s8, i16, u32, i32, ".sat", _sat) \
      CVT(u8, i16, s32, i32, ".sat", _sat) CVT(s8, i16, s32, i32, ".sat", _sat)                        \
          CVT(u16, i16, s32, i32, ".sat", _sat) CVT(s16, i16, u32, i32, ".sat", _sat)                  \
              CVT(u32, i32, s32, i32, ".sat", _sat) CVT(s32, i32, u32, i32, ".sat", _sat)
#define FROM_I64                                                                                        \
  INTEGERS(RESIZE, u64, i64)                                                                            \
  INTEGERS(RESIZE, s64, i64) CVT(u8, i16, u64, i64, ".sat", _sat) CVT(s16, i16, s64, i64, ".sat", _sat) \
      CVT(u32, i32, s64, i64, ".sat", _sat) CVT(s32, i32, u64, i64, ".sat", _sat)                       \
          CVT(s32, i32, s64, i64, ".sat", _sat) CVT(u64, i64, s64, i64, ".sat", _sat)                   \
              CVT(s64, i64, u64, i64, ".sat", _sat)

// Float to integer.
#define UNSATURATED(D, KD, S, KS, FTZ, TAG)                                         \
  CVT(D, KD, S, KS, ".rni" FTZ, _rni##TAG)                                          \
  CVT(D, KD, S, KS, ".rzi" FTZ, _rzi##TAG) CVT(D, KD, S, KS, ".rmi" FTZ, _rmi##TAG) \
      CVT(D, KD, S, KS, ".rpi" FTZ, _rpi##TAG)
#define TO_INTEGER(D, KD, S, KS, FTZ, TAG) \
  UNSATURATED(D, KD, S, KS, FTZ, TAG)      \
  CVT(D, KD, S, KS, ".rni" FTZ ".sat", _rni_sat##TAG) CVT(D, KD, S, KS, ".rzi" FTZ ".sat", _rzi_sat##TAG)
#define F16_TO_INTEGER INTEGERS(TO_INTEGER, f16, f16, "", )
#define BF16_TO_INTEGER                                                               \
  UNSATURATED(u16, i16, bf16, bf16, "", )                                             \
  UNSATURATED(s16, i16, bf16, bf16, "", ) UNSATURATED(u32, i32, bf16, bf16, "", )     \
      UNSATURATED(s32, i32, bf16, bf16, "", ) UNSATURATED(u64, i64, bf16, bf16, "", ) \
          UNSATURATED(s64, i64, bf16, bf16, "", )
#define F32_TO_INTEGER \
  INTEGERS(TO_INTEGER, f32, convert_f32, "", ) INTEGERS(TO_INTEGER, f32, convert_f32, ".ftz", _ftz)
#define F64_TO_INTEGER INTEGERS(TO_INTEGER, f64, convert_f64, "", )

// Integer to float.
#define ROUNDED(D, KD, S, KS, MORE, TAG)                                          \
  CVT(D, KD, S, KS, ".rn" MORE, _rn##TAG)                                         \
  CVT(D, KD, S, KS, ".rz" MORE, _rz##TAG) CVT(D, KD, S, KS, ".rm" MORE, _rm##TAG) \
      CVT(D, KD, S, KS, ".rp" MORE, _rp##TAG)
#define TO_FLOAT(S, KS)                                                                 \
  ROUNDED(f16, f16, S, KS, "", )                                                        \
  ROUNDED(f16, f16, S, KS, ".sat", _sat) ROUNDED(f32, f32, S, KS, "", )                 \
      ROUNDED(f32, f32, S, KS, ".sat", _sat) ROUNDED(f32, f32, S, KS, ".ftz", _ftz)     \
          ROUNDED(f32, f32, S, KS, ".ftz.sat", _ftz_sat) ROUNDED(f64, f64, S, KS, "", ) \
              ROUNDED(f64, f64, S, KS, ".sat", _sat)
#define I16_TO_FLOAT                                                                          \
  TO_FLOAT(u8, i16)                                                                           \
  TO_FLOAT(s8, i16) TO_FLOAT(u16, i16) TO_FLOAT(s16, i16) ROUNDED(bf16, bf16, u16, i16, "", ) \
      ROUNDED(bf16, bf16, s16, i16, "", )
#define I32_TO_FLOAT \
  TO_FLOAT(u32, i32) \
  TO_FLOAT(s32, i32) ROUNDED(bf16, bf16, u32, i32, "", ) ROUNDED(bf16, bf16, s32, i32, "", )
#define I64_TO_FLOAT \
  TO_FLOAT(u64, i64) \
  TO_FLOAT(s64, i64) ROUNDED(bf16, bf16, u64, i64, "", ) ROUNDED(bf16, bf16, s64, i64, "", )

// Float to float. To an equal type: rounding to a whole number.
#define WHOLE(T, K, MORE, TAG)                                                    \
  CVT(T, K, T, K, ".rni" MORE, _rni##TAG)                                         \
  CVT(T, K, T, K, ".rzi" MORE, _rzi##TAG) CVT(T, K, T, K, ".rmi" MORE, _rmi##TAG) \
      CVT(T, K, T, K, ".rpi" MORE, _rpi##TAG)
#define FROM_F16                                                                                          \
  CVT(f32, f32, f16, f16, "", )                                                                           \
  CVT(f32, f32, f16, f16, ".sat", _sat) CVT(f32, f32, f16, f16, ".ftz.sat", _ftz_sat)                     \
      CVT(f64, f64, f16, f16, "", ) CVT(f64, f64, f16, f16, ".sat", _sat) CVT(bf16, bf16, f16, f16, "", ) \
          WHOLE(f16, f16, "", ) WHOLE(f16, f16, ".sat", _sat) CVT(bf16, bf16, f16, f16, ".rn", _rn)       \
              CVT(bf16, bf16, f16, f16, ".rz", _rz) CVT(bf16, bf16, f16, f16, ".rm", _rm)                 \
                  CVT(bf16, bf16, f16, f16, ".rp", _rp)
#define FROM_BF16                                                                     \
  CVT(f32, f32, bf16, bf16, "", )                                                     \
  CVT(f64, f64, bf16, bf16, "", ) ROUNDED(f32, f32, bf16, bf16, "", )                 \
      ROUNDED(f32, f32, bf16, bf16, ".ftz", _ftz) ROUNDED(f64, f64, bf16, bf16, "", ) \
          CVT(f16, f16, bf16, bf16, "", ) ROUNDED(f16, f16, bf16, bf16, "", ) WHOLE(bf16, bf16, "", )
#define FROM_F32                                                                                            \
  ROUNDED(f16, f16, f32, convert_f32, "", )                                                                 \
  ROUNDED(f16, f16, f32, convert_f32, ".sat", _sat) ROUNDED(f16, f16, f32, convert_f32, ".ftz", _ftz)       \
      ROUNDED(f16, f16, f32, convert_f32, ".ftz.sat", _ftz_sat) ROUNDED(bf16, bf16, f32, convert_f32, "", ) \
          ROUNDED(bf16, bf16, f32, convert_f32, ".ftz", _ftz) WHOLE_F32(, "") WHOLE_F32(_ftz, ".ftz")       \
              CVT(f64, f64, f32, convert_f32, ".sat", _sat)                                                 \
                  CVT(f64, f64, f32, convert_f32, ".ftz.sat", _ftz_sat)                                     \
                      CVT(f16, f16, f32, convert_f32, ".rn.relu", _rn_relu)                                 \
                          CVT(f16, f16, f32, convert_f32, ".rz.relu", _rz_relu)                             \
                              CVT(bf16, bf16, f32, convert_f32, ".rn.relu", _rn_relu) CVT(                  \
                                  bf16, bf16, f32, convert_f32, ".rz.relu", _rz_relu)                       \
                                  CVT(f16, f16, f32, convert_f32, ".rn.satfinite", _rn_satfinite) CVT(      \
                                      f16, f16, f32, convert_f32, ".rz.relu.satfinite", _rz_relu_satfinite) \
                                      CVT(bf16, bf16, f32, convert_f32, ".rn.satfinite", _rn_satfinite)     \
                                          CVT(bf16, bf16, f32, convert_f32, ".rz.relu.satfinite",           \
                                              _rz_relu_satfinite)
#define WHOLE_F32(TAG, FTZ)                                                                 \
  OPERATION(whole_rni##TAG, f32, convert_f32, "cvt.rni" FTZ ".f32.f32 %0, %1;")             \
  OPERATION(whole_rzi##TAG, f32, convert_f32, "cvt.rzi" FTZ ".f32.f32 %0, %1;")             \
      OPERATION(whole_rmi_sat##TAG, f32, convert_f32, "cvt.rmi" FTZ ".sat.f32.f32 %0, %1;") \
          OPERATION(whole_rpi_sat##TAG, f32, convert_f32, "cvt.rpi" FTZ ".sat.f32.f32 %0, %1;")
#define FROM_F64                                                                              \
  ROUNDED(f16, f16, f64, convert_f64, "", )                                                   \
  ROUNDED(f32, f32, f64, convert_f64, "", ) ROUNDED(f32, f32, f64, convert_f64, ".sat", _sat) \
      ROUNDED(f32, f32, f64, convert_f64, ".ftz", _ftz)                                       \
          ROUNDED(f32, f32, f64, convert_f64, ".ftz.sat", _ftz_sat)                           \
              ROUNDED(bf16, bf16, f64, convert_f64, "", ) ROUNDED(f16, f16, f64, convert_f64, ".sat", _sat)
#define F64_WHOLE                                                                   \
  OPERATION(whole_rni_f64, f64, convert_f64, "cvt.rni.f64.f64 %0, %1;")             \
  OPERATION(whole_rzi_f64, f64, convert_f64, "cvt.rzi.f64.f64 %0, %1;")             \
      OPERATION(whole_rmi_sat_f64, f64, convert_f64, "cvt.rmi.sat.f64.f64 %0, %1;") \
          OPERATION(whole_rpi_f64, f64, convert_f64, "cvt.rpi.f64.f64 %0, %1;")
#define PACK                                                                                       \
  OPERATION(pack_u16, i32, i32, i32, "cvt.pack.sat.u16.s32 %0, %1, %2;")                           \
  OPERATION(pack_s16, i32, i32, i32, "cvt.pack.sat.s16.s32 %0, %1, %2;")                           \
      OPERATION(pack_u4, i32, i32, i32, "cvt.pack.sat.u4.s32.b32 %0, %1, %2, 0x12345678;")         \
          OPERATION(pack_s4, i32, i32, i32, "cvt.pack.sat.s4.s32.b32 %0, %1, %2, 0x12345678;")     \
              OPERATION(pack_u2, i32, i32, i32, "cvt.pack.sat.u2.s32.b32 %0, %1, %2, 0x12345678;") \
                  OPERATION(pack_s2, i32, i32, i32, "cvt.pack.sat.s2.s32.b32 %0, %1, %2, 0x12345678;")

#define OPERATION OP1
FROM_I16 FROM_I32 FROM_I64 F16_TO_INTEGER BF16_TO_INTEGER F32_TO_INTEGER F64_TO_INTEGER I16_TO_FLOAT
    I32_TO_FLOAT I64_TO_FLOAT FROM_F16 FROM_BF16 FROM_F32 FROM_F64 F64_WHOLE
#undef OPERATION
#define OPERATION OP2
        PACK
#undef OPERATION
}  // namespace

void sweep_convert_cases(Table& table) {
#define OPERATION(NAME, ...) NAME,
#define ADD(NAME, LIST) add_sweep<LIST End>(table, NAME);
  ADD("cvt_from_16_bits", FROM_I16)
  ADD("cvt_from_32_bits", FROM_I32) ADD("cvt_from_64_bits", FROM_I64)
      ADD("cvt_f16_to_integer", F16_TO_INTEGER) ADD("cvt_bf16_to_integer", BF16_TO_INTEGER)
          ADD("cvt_f32_to_integer", F32_TO_INTEGER) ADD("cvt_f64_to_integer", F64_TO_INTEGER)
              ADD("cvt_16_bits_to_float", I16_TO_FLOAT) ADD("cvt_32_bits_to_float", I32_TO_FLOAT)
                  ADD("cvt_64_bits_to_float", I64_TO_FLOAT) ADD("cvt_from_f16", FROM_F16)
                      ADD("cvt_from_bf16", FROM_BF16) ADD("cvt_from_f32", FROM_F32)
                          ADD("cvt_from_f64", FROM_F64) ADD("cvt_f64_whole", F64_WHOLE) ADD("cvt_pack", PACK)
}

}  // namespace conformance
