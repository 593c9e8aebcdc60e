// cvt between every pair of types that sm_90a has (PTX ISA 9.7.9.21) and cvt.pack.
#include "../instruction.cuh"

namespace conformance {
namespace {
#define FAMILY "convert"

// clang-format off
#define LIST(OP1, OP2, OP3) \
  OP1(cvt_rni_s32_f32, i32, convert_f32, "cvt.rni.s32.f32 %0, %1;") \
  OP1(cvt_rzi_s32_f32, i32, convert_f32, "cvt.rzi.s32.f32 %0, %1;") \
  OP1(cvt_rmi_s32_f32, i32, convert_f32, "cvt.rmi.s32.f32 %0, %1;") \
  OP1(cvt_rpi_s32_f32, i32, convert_f32, "cvt.rpi.s32.f32 %0, %1;") \
  OP1(cvt_rzi_u32_f32, i32, convert_f32, "cvt.rzi.u32.f32 %0, %1;") \
  OP1(cvt_rzi_s16_f32, i16, convert_f32, "cvt.rzi.s16.f32 %0, %1;") \
  OP1(cvt_rzi_u16_f32, i16, convert_f32, "cvt.rzi.u16.f32 %0, %1;") \
  OP1(cvt_rzi_s8_f32, i16, convert_f32, "cvt.rzi.s8.f32 %0, %1;") \
  OP1(cvt_rzi_u8_f32, i16, convert_f32, "cvt.rzi.u8.f32 %0, %1;") \
  OP1(cvt_rni_sat_s8_f32, i16, convert_f32, "cvt.rni.sat.s8.f32 %0, %1;") \
  OP1(cvt_rzi_s64_f32, i64, convert_f32, "cvt.rzi.s64.f32 %0, %1;") \
  OP1(cvt_rzi_u64_f32, i64, convert_f32, "cvt.rzi.u64.f32 %0, %1;") \
  OP1(cvt_rpi_s64_f32, i64, convert_f32, "cvt.rpi.s64.f32 %0, %1;") \
  OP1(cvt_rni_ftz_s32_f32, i32, convert_f32, "cvt.rni.ftz.s32.f32 %0, %1;") \
  OP1(cvt_rpi_ftz_u32_f32, i32, convert_f32, "cvt.rpi.ftz.u32.f32 %0, %1;") \
  OP1(cvt_rni_s32_f64, i32, convert_f64, "cvt.rni.s32.f64 %0, %1;") \
  OP1(cvt_rni_u32_f64, i32, convert_f64, "cvt.rni.u32.f64 %0, %1;") \
  OP1(cvt_rmi_s64_f64, i64, convert_f64, "cvt.rmi.s64.f64 %0, %1;") \
  OP1(cvt_rmi_u64_f64, i64, convert_f64, "cvt.rmi.u64.f64 %0, %1;") \
  OP1(cvt_rni_s32_f16, i32, f16, "cvt.rni.s32.f16 %0, %1;") \
  OP1(cvt_rzi_u16_f16, i16, f16, "cvt.rzi.u16.f16 %0, %1;") \
  OP1(cvt_rpi_s64_f16, i64, f16, "cvt.rpi.s64.f16 %0, %1;") \
  OP1(cvt_rni_s8_f16, i16, f16, "cvt.rni.s8.f16 %0, %1;") \
  OP1(cvt_rni_s32_bf16, i32, bf16, "cvt.rni.s32.bf16 %0, %1;") \
  OP1(cvt_rzi_u16_bf16, i16, bf16, "cvt.rzi.u16.bf16 %0, %1;") \
  OP1(cvt_rn_f32_s32, f32, i32, "cvt.rn.f32.s32 %0, %1;") \
  OP1(cvt_rz_f32_s32, f32, i32, "cvt.rz.f32.s32 %0, %1;") \
  OP1(cvt_rm_f32_s32, f32, i32, "cvt.rm.f32.s32 %0, %1;") \
  OP1(cvt_rp_f32_s32, f32, i32, "cvt.rp.f32.s32 %0, %1;") \
  OP1(cvt_rn_f32_u32, f32, i32, "cvt.rn.f32.u32 %0, %1;") \
  OP1(cvt_rn_f32_s64, f32, i64, "cvt.rn.f32.s64 %0, %1;") \
  OP1(cvt_rn_f32_u64, f32, i64, "cvt.rn.f32.u64 %0, %1;") \
  OP1(cvt_rp_f32_s64, f32, i64, "cvt.rp.f32.s64 %0, %1;") \
  OP1(cvt_rn_f64_s64, f64, i64, "cvt.rn.f64.s64 %0, %1;") \
  OP1(cvt_rn_f64_u64, f64, i64, "cvt.rn.f64.u64 %0, %1;") \
  OP1(cvt_rz_f64_s64, f64, i64, "cvt.rz.f64.s64 %0, %1;") \
  OP1(cvt_rn_f64_s32, f64, i32, "cvt.rn.f64.s32 %0, %1;") \
  OP1(cvt_rn_f64_u32, f64, i32, "cvt.rn.f64.u32 %0, %1;") \
  OP1(cvt_rn_f32_s8, f32, i16, "cvt.rn.f32.s8 %0, %1;") \
  OP1(cvt_rn_f32_u16, f32, i16, "cvt.rn.f32.u16 %0, %1;") \
  OP1(cvt_rn_f16_s32, f16, i32, "cvt.rn.f16.s32 %0, %1;") \
  OP1(cvt_rz_f16_u32, f16, i32, "cvt.rz.f16.u32 %0, %1;") \
  OP1(cvt_rn_f16_s64, f16, i64, "cvt.rn.f16.s64 %0, %1;") \
  OP1(cvt_rn_f16_u16, f16, i16, "cvt.rn.f16.u16 %0, %1;") \
  OP1(cvt_rn_bf16_s32, bf16, i32, "cvt.rn.bf16.s32 %0, %1;") \
  OP1(cvt_rz_bf16_u64, bf16, i64, "cvt.rz.bf16.u64 %0, %1;") \
  OP1(cvt_rn_bf16_s16, bf16, i16, "cvt.rn.bf16.s16 %0, %1;") \
  OP1(cvt_rn_f32_f64, f32, convert_f64, "cvt.rn.f32.f64 %0, %1;") \
  OP1(cvt_rz_f32_f64, f32, convert_f64, "cvt.rz.f32.f64 %0, %1;") \
  OP1(cvt_rm_f32_f64, f32, convert_f64, "cvt.rm.f32.f64 %0, %1;") \
  OP1(cvt_rp_f32_f64, f32, convert_f64, "cvt.rp.f32.f64 %0, %1;") \
  OP1(cvt_rn_ftz_f32_f64, f32, convert_f64, "cvt.rn.ftz.f32.f64 %0, %1;") \
  OP1(cvt_rn_sat_f32_f64, f32, convert_f64, "cvt.rn.sat.f32.f64 %0, %1;") \
  OP1(cvt_f64_f32, f64, convert_f32, "cvt.f64.f32 %0, %1;") \
  OP1(cvt_ftz_f64_f32, f64, convert_f32, "cvt.ftz.f64.f32 %0, %1;") \
  OP1(cvt_sat_f32_f32, f32, convert_f32, "cvt.sat.f32.f32 %0, %1;") \
  OP1(cvt_ftz_f32_f32, f32, convert_f32, "cvt.ftz.f32.f32 %0, %1;") \
  OP1(cvt_rni_f32_f32, f32, convert_f32, "cvt.rni.f32.f32 %0, %1;") \
  OP1(cvt_rzi_f32_f32, f32, convert_f32, "cvt.rzi.f32.f32 %0, %1;") \
  OP1(cvt_rmi_f32_f32, f32, convert_f32, "cvt.rmi.f32.f32 %0, %1;") \
  OP1(cvt_rpi_f32_f32, f32, convert_f32, "cvt.rpi.f32.f32 %0, %1;") \
  OP1(cvt_rni_ftz_f32_f32, f32, convert_f32, "cvt.rni.ftz.f32.f32 %0, %1;") \
  OP1(cvt_rni_sat_f32_f32, f32, convert_f32, "cvt.rni.sat.f32.f32 %0, %1;") \
  OP1(cvt_rni_f64_f64, f64, convert_f64, "cvt.rni.f64.f64 %0, %1;") \
  OP1(cvt_rmi_f64_f64, f64, convert_f64, "cvt.rmi.f64.f64 %0, %1;") \
  OP1(cvt_rni_f16_f16, f16, f16, "cvt.rni.f16.f16 %0, %1;") \
  OP1(cvt_rpi_f16_f16, f16, f16, "cvt.rpi.f16.f16 %0, %1;") \
  OP1(cvt_rzi_bf16_bf16, bf16, bf16, "cvt.rzi.bf16.bf16 %0, %1;") \
  OP1(cvt_f32_f16, f32, f16, "cvt.f32.f16 %0, %1;") \
  OP1(cvt_ftz_f32_f16, f32, f16, "cvt.ftz.f32.f16 %0, %1;") \
  OP1(cvt_f32_bf16, f32, bf16, "cvt.f32.bf16 %0, %1;") \
  OP1(cvt_f64_f16, f64, f16, "cvt.f64.f16 %0, %1;") \
  OP1(cvt_f64_bf16, f64, bf16, "cvt.f64.bf16 %0, %1;") \
  OP1(cvt_rn_f16_f32, f16, convert_f32, "cvt.rn.f16.f32 %0, %1;") \
  OP1(cvt_rz_f16_f32, f16, convert_f32, "cvt.rz.f16.f32 %0, %1;") \
  OP1(cvt_rm_f16_f32, f16, convert_f32, "cvt.rm.f16.f32 %0, %1;") \
  OP1(cvt_rp_f16_f32, f16, convert_f32, "cvt.rp.f16.f32 %0, %1;") \
  OP1(cvt_rn_ftz_f16_f32, f16, convert_f32, "cvt.rn.ftz.f16.f32 %0, %1;") \
  OP1(cvt_rn_sat_f16_f32, f16, convert_f32, "cvt.rn.sat.f16.f32 %0, %1;") \
  OP1(cvt_rn_relu_f16_f32, f16, convert_f32, "cvt.rn.relu.f16.f32 %0, %1;") \
  OP1(cvt_rz_relu_f16_f32, f16, convert_f32, "cvt.rz.relu.f16.f32 %0, %1;") \
  OP1(cvt_rn_satfinite_f16_f32, f16, convert_f32, "cvt.rn.satfinite.f16.f32 %0, %1;") \
  OP1(cvt_rn_relu_satfinite_f16_f32, f16, convert_f32, "cvt.rn.relu.satfinite.f16.f32 %0, %1;") \
  OP1(cvt_rn_bf16_f32, bf16, convert_f32, "cvt.rn.bf16.f32 %0, %1;") \
  OP1(cvt_rz_bf16_f32, bf16, convert_f32, "cvt.rz.bf16.f32 %0, %1;") \
  OP1(cvt_rm_bf16_f32, bf16, convert_f32, "cvt.rm.bf16.f32 %0, %1;") \
  OP1(cvt_rp_bf16_f32, bf16, convert_f32, "cvt.rp.bf16.f32 %0, %1;") \
  OP1(cvt_rn_relu_bf16_f32, bf16, convert_f32, "cvt.rn.relu.bf16.f32 %0, %1;") \
  OP1(cvt_rn_satfinite_bf16_f32, bf16, convert_f32, "cvt.rn.satfinite.bf16.f32 %0, %1;") \
  OP1(cvt_rz_relu_bf16_f32, bf16, convert_f32, "cvt.rz.relu.bf16.f32 %0, %1;") \
  OP1(cvt_rn_f16_f64, f16, convert_f64, "cvt.rn.f16.f64 %0, %1;") \
  OP1(cvt_rz_f16_f64, f16, convert_f64, "cvt.rz.f16.f64 %0, %1;") \
  OP1(cvt_rn_bf16_f64, bf16, convert_f64, "cvt.rn.bf16.f64 %0, %1;") \
  OP1(cvt_rn_bf16_f16, bf16, f16, "cvt.rn.bf16.f16 %0, %1;") \
  OP1(cvt_rn_f16_bf16, f16, bf16, "cvt.rn.f16.bf16 %0, %1;") \
  OP1(cvt_rz_f16_bf16, f16, bf16, "cvt.rz.f16.bf16 %0, %1;") \
  OP2(cvt_rn_f16x2_f32, f16x2, convert_f32, convert_f32, "cvt.rn.f16x2.f32 %0, %1, %2;") \
  OP2(cvt_rz_f16x2_f32, f16x2, convert_f32, convert_f32, "cvt.rz.f16x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_relu_f16x2_f32, f16x2, convert_f32, convert_f32, "cvt.rn.relu.f16x2.f32 %0, %1, %2;") \
  OP2(cvt_rz_relu_f16x2_f32, f16x2, convert_f32, convert_f32, "cvt.rz.relu.f16x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_satfinite_f16x2_f32, f16x2, convert_f32, convert_f32, "cvt.rn.satfinite.f16x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_relu_satfinite_f16x2_f32, f16x2, convert_f32, convert_f32, "cvt.rn.relu.satfinite.f16x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_bf16x2_f32, bf16x2, convert_f32, convert_f32, "cvt.rn.bf16x2.f32 %0, %1, %2;") \
  OP2(cvt_rz_bf16x2_f32, bf16x2, convert_f32, convert_f32, "cvt.rz.bf16x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_relu_bf16x2_f32, bf16x2, convert_f32, convert_f32, "cvt.rn.relu.bf16x2.f32 %0, %1, %2;") \
  OP2(cvt_rz_relu_bf16x2_f32, bf16x2, convert_f32, convert_f32, "cvt.rz.relu.bf16x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_satfinite_bf16x2_f32, bf16x2, convert_f32, convert_f32, "cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_relu_satfinite_bf16x2_f32, bf16x2, convert_f32, convert_f32, "cvt.rn.relu.satfinite.bf16x2.f32 %0, %1, %2;") \
  OP1(cvt_rna_tf32_f32, f32, convert_f32, "cvt.rna.tf32.f32 %0, %1;") \
  OP1(cvt_rn_tf32_f32, f32, convert_f32, "cvt.rn.tf32.f32 %0, %1;") \
  OP1(cvt_rz_tf32_f32, f32, convert_f32, "cvt.rz.tf32.f32 %0, %1;") \
  OP1(cvt_rn_relu_tf32_f32, f32, convert_f32, "cvt.rn.relu.tf32.f32 %0, %1;") \
  OP1(cvt_rz_relu_tf32_f32, f32, convert_f32, "cvt.rz.relu.tf32.f32 %0, %1;") \
  OP1(cvt_rna_satfinite_tf32_f32, f32, convert_f32, "cvt.rna.satfinite.tf32.f32 %0, %1;") \
  OP2(cvt_rn_satfinite_e4m3x2_f32, i16, convert_f32, convert_f32, "cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_satfinite_relu_e4m3x2_f32, i16, convert_f32, convert_f32, "cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;") \
  OP1(cvt_rn_satfinite_e4m3x2_f16x2, i16, f16x2, "cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;") \
  OP1(cvt_rn_satfinite_relu_e4m3x2_f16x2, i16, f16x2, "cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;") \
  OP1(cvt_rn_f16x2_e4m3x2, f16x2, bytes2, "cvt.rn.f16x2.e4m3x2 %0, %1;") \
  OP1(cvt_rn_relu_f16x2_e4m3x2, f16x2, bytes2, "cvt.rn.relu.f16x2.e4m3x2 %0, %1;") \
  OP2(cvt_rn_satfinite_e5m2x2_f32, i16, convert_f32, convert_f32, "cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;") \
  OP2(cvt_rn_satfinite_relu_e5m2x2_f32, i16, convert_f32, convert_f32, "cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;") \
  OP1(cvt_rn_satfinite_e5m2x2_f16x2, i16, f16x2, "cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;") \
  OP1(cvt_rn_satfinite_relu_e5m2x2_f16x2, i16, f16x2, "cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;") \
  OP1(cvt_rn_f16x2_e5m2x2, f16x2, bytes2, "cvt.rn.f16x2.e5m2x2 %0, %1;") \
  OP1(cvt_rn_relu_f16x2_e5m2x2, f16x2, bytes2, "cvt.rn.relu.f16x2.e5m2x2 %0, %1;") \
  OP1(cvt_sat_s8_s32, i16, i32, "cvt.sat.s8.s32 %0, %1;") \
  OP1(cvt_sat_u8_s32, i16, i32, "cvt.sat.u8.s32 %0, %1;") \
  OP1(cvt_sat_u8_u32, i16, i32, "cvt.sat.u8.u32 %0, %1;") \
  OP1(cvt_sat_s16_s32, i16, i32, "cvt.sat.s16.s32 %0, %1;") \
  OP1(cvt_sat_u16_s32, i16, i32, "cvt.sat.u16.s32 %0, %1;") \
  OP1(cvt_sat_s16_u32, i16, i32, "cvt.sat.s16.u32 %0, %1;") \
  OP1(cvt_sat_s32_s64, i32, i64, "cvt.sat.s32.s64 %0, %1;") \
  OP1(cvt_sat_u32_s64, i32, i64, "cvt.sat.u32.s64 %0, %1;") \
  OP1(cvt_sat_u32_u64, i32, i64, "cvt.sat.u32.u64 %0, %1;") \
  OP1(cvt_sat_s32_u32, i32, i32, "cvt.sat.s32.u32 %0, %1;") \
  OP1(cvt_sat_u32_s32, i32, i32, "cvt.sat.u32.s32 %0, %1;") \
  OP1(cvt_sat_s64_u64, i64, i64, "cvt.sat.s64.u64 %0, %1;") \
  OP1(cvt_sat_u64_s64, i64, i64, "cvt.sat.u64.s64 %0, %1;") \
  OP1(cvt_sat_u64_s16, i64, i16, "cvt.sat.u64.s16 %0, %1;") \
  OP1(cvt_sat_s8_u16, i16, i16, "cvt.sat.s8.u16 %0, %1;") \
  OP1(cvt_s64_s32, i64, i32, "cvt.s64.s32 %0, %1;") \
  OP1(cvt_u64_u32, i64, i32, "cvt.u64.u32 %0, %1;") \
  OP1(cvt_s32_s8, i32, i16, "cvt.s32.s8 %0, %1;") \
  OP1(cvt_u32_u8, i32, i16, "cvt.u32.u8 %0, %1;") \
  OP1(cvt_s16_s8, i16, i16, "cvt.s16.s8 %0, %1;") \
  OP1(cvt_s64_s16, i64, i16, "cvt.s64.s16 %0, %1;") \
  OP1(cvt_u8_u32, i16, i32, "cvt.u8.u32 %0, %1;") \
  OP1(cvt_s8_s64, i16, i64, "cvt.s8.s64 %0, %1;") \
  OP1(cvt_u16_u64, i16, i64, "cvt.u16.u64 %0, %1;") \
  OP1(cvt_u32_s16, i32, i16, "cvt.u32.s16 %0, %1;") \
  OP2(cvt_pack_sat_s16_s32, i32, i32, i32, "cvt.pack.sat.s16.s32 %0, %1, %2;") \
  OP2(cvt_pack_sat_u16_s32, i32, i32, i32, "cvt.pack.sat.u16.s32 %0, %1, %2;") \
  OP3(cvt_pack_sat_s8_s32_b32, i32, i32, i32, i32, "cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;") \
  OP3(cvt_pack_sat_u8_s32_b32, i32, i32, i32, i32, "cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;") \
  OP3(cvt_pack_sat_u4_s32_b32, i32, i32, i32, i32, "cvt.pack.sat.u4.s32.b32 %0, %1, %2, %3;") \
  OP3(cvt_pack_sat_s2_s32_b32, i32, i32, i32, i32, "cvt.pack.sat.s2.s32.b32 %0, %1, %2, %3;")
// clang-format on

LIST(OP1, OP2, OP3)
}  // namespace

void conversion_cases(Table& table) { LIST(ADD_OP, ADD_OP, ADD_OP) }

}  // namespace conformance
