// mma.sp with both ways of ordering metadata (PTX ISA 9.7.14.6). Every lane brings other metadata: the
// results show whose of them count.
#include "matrix_shapes.cuh"

namespace conformance {
namespace {

#define F16(SUM) \
  MmaValues { Content::kNearOne, 16, 5, Accumulator::SUM }
#define BF16 \
  MmaValues { Content::kNearOne, 16, 8, Accumulator::kFloat }
#define TF32 \
  MmaValues { Content::kNearOne, 32, 8, Accumulator::kFloat }
#define INTEGER \
  MmaValues { Content::kWhole, 32, 0, Accumulator::kInteger }
#define E4M3 \
  MmaValues { Content::kNearOne, 8, 4, Accumulator::kFloat }
#define E5M2 \
  MmaValues { Content::kWide, 8, 5, Accumulator::kFloat }
#define SP "mma.sp::ordered_metadata.sync.aligned."
#define OLD "mma.sp.sync.aligned."

// clang-format off
#define SPARSE(MMA) \
  MMA(f16_m16n8k16_0, SP "m16n8k16.row.col.f32.f16.f16.f32", "0", false, 4, 2, 2, 4, F16(kFloat)) \
  MMA(f16_m16n8k16_1, SP "m16n8k16.row.col.f32.f16.f16.f32", "1", false, 4, 2, 2, 4, F16(kFloat)) \
  MMA(f16_m16n8k16_2, SP "m16n8k16.row.col.f32.f16.f16.f32", "2", false, 4, 2, 2, 4, F16(kFloat)) \
  MMA(f16_m16n8k16_3, OLD "m16n8k16.row.col.f32.f16.f16.f32", "3", false, 4, 2, 2, 4, F16(kFloat)) \
  MMA(f16_m16n8k32_0, SP "m16n8k32.row.col.f32.f16.f16.f32", "0", false, 4, 4, 4, 4, F16(kFloat)) \
  MMA(f16_m16n8k32_1, OLD "m16n8k32.row.col.f32.f16.f16.f32", "1", false, 4, 4, 4, 4, F16(kFloat)) \
  MMA(f16_m16n8k16_sum_f16, SP "m16n8k16.row.col.f16.f16.f16.f16", "1", false, 2, 2, 2, 2, F16(kHalf)) \
  MMA(f16_m16n8k32_sum_f16, SP "m16n8k32.row.col.f16.f16.f16.f16", "0", false, 2, 4, 4, 2, F16(kHalf)) \
  MMA(bf16_m16n8k16, SP "m16n8k16.row.col.f32.bf16.bf16.f32", "0", false, 4, 2, 2, 4, BF16) \
  MMA(bf16_m16n8k32, SP "m16n8k32.row.col.f32.bf16.bf16.f32", "1", false, 4, 4, 4, 4, BF16) \
  MMA(tf32_m16n8k8_0, SP "m16n8k8.row.col.f32.tf32.tf32.f32", "0", true, 4, 2, 2, 4, TF32) \
  MMA(tf32_m16n8k8_2, OLD "m16n8k8.row.col.f32.tf32.tf32.f32", "2", true, 4, 2, 2, 4, TF32) \
  MMA(tf32_m16n8k16_0, SP "m16n8k16.row.col.f32.tf32.tf32.f32", "0", true, 4, 4, 4, 4, TF32) \
  MMA(tf32_m16n8k16_1, SP "m16n8k16.row.col.f32.tf32.tf32.f32", "1", true, 4, 4, 4, 4, TF32) \
  MMA(s8_m16n8k32_0, SP "m16n8k32.row.col.s32.s8.s8.s32", "0", false, 4, 2, 2, 4, INTEGER) \
  MMA(u8_s8_m16n8k32_1, OLD "m16n8k32.row.col.satfinite.s32.u8.s8.s32", "1", false, 4, 2, 2, 4, INTEGER) \
  MMA(s8_u8_m16n8k64, SP "m16n8k64.row.col.satfinite.s32.s8.u8.s32", "0", false, 4, 4, 4, 4, INTEGER) \
  MMA(u8_m16n8k64, OLD "m16n8k64.row.col.s32.u8.u8.s32", "0", false, 4, 4, 4, 4, INTEGER) \
  MMA(s4_m16n8k64_0, SP "m16n8k64.row.col.s32.s4.s4.s32", "0", false, 4, 2, 2, 4, INTEGER) \
  MMA(u4_s4_m16n8k64_1, SP "m16n8k64.row.col.satfinite.s32.u4.s4.s32", "1", false, 4, 2, 2, 4, INTEGER) \
  MMA(s4_u4_m16n8k128, SP "m16n8k128.row.col.s32.s4.u4.s32", "0", false, 4, 4, 4, 4, INTEGER) \
  MMA(e4m3_m16n8k64, SP "m16n8k64.row.col.f32.e4m3.e4m3.f32", "0", false, 4, 4, 4, 4, E4M3) \
  MMA(e5m2_e4m3_m16n8k64, SP "m16n8k64.row.col.f32.e5m2.e4m3.f32", "0", false, 4, 4, 4, 4, E5M2)
// clang-format on
SPARSE(MMA_SPARSE)
}  // namespace

void matrix_sparse_cases(Table& table) {
  const Shape rounds{4};
#define ADD_MMA(NAME, FORM, SELECTOR, OF_TWO, D, ...) \
  add_kernel(table, "matrix_sparse." #NAME, NAME, 4 * 32 * D, rounds);
  SPARSE(ADD_MMA)
}

}  // namespace conformance
