// mma.sync in the shapes and types beside the usual m16n8k16 (PTX ISA 9.7.14.5): short K, f64, m8n8, 4-bit
// and 1-bit integers, fp8 with both accumulators.
#include "matrix_shapes.cuh"

namespace conformance {
namespace {

#define F16(CONTENT, SUM) \
  MmaValues { Content::CONTENT, 16, 5, Accumulator::SUM }
#define E4M3(CONTENT, SUM) \
  MmaValues { Content::CONTENT, 8, 4, Accumulator::SUM }
#define E5M2(CONTENT, SUM) \
  MmaValues { Content::CONTENT, 8, 5, Accumulator::SUM }
#define BF16(CONTENT) \
  MmaValues { Content::CONTENT, 16, 8, Accumulator::kFloat }
#define TF32(CONTENT) \
  MmaValues { Content::CONTENT, 32, 8, Accumulator::kFloat }
#define INTEGER \
  MmaValues { Content::kWhole, 32, 0, Accumulator::kInteger }

// clang-format off
#define DENSE(MMA) \
  MMA(f16_m16n8k8_near_one, "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4, F16(kNearOne, kFloat)) \
  MMA(f16_m16n8k8_special, "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4, F16(kSpecial, kFloat)) \
  MMA(f16_m16n8k8_sum_f16, "m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2, F16(kNearOne, kHalf)) \
  MMA(bf16_m16n8k8_near_one, "m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4, BF16(kNearOne)) \
  MMA(tf32_m16n8k8_special, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4, TF32(kSpecial)) \
  MMA(tf32_m16n8k4_special, "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4, TF32(kSpecial)) \
  MMA(s8_m8n8k16, "m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1, 2, INTEGER) \
  MMA(u8_s8_m8n8k16_satfinite, "m8n8k16.row.col.satfinite.s32.u8.s8.s32", 2, 1, 1, 2, INTEGER) \
  MMA(s8_u8_m16n8k16, "m16n8k16.row.col.s32.s8.u8.s32", 4, 2, 1, 4, INTEGER) \
  MMA(u8_m16n8k16_satfinite, "m16n8k16.row.col.satfinite.s32.u8.u8.s32", 4, 2, 1, 4, INTEGER) \
  MMA(s4_m8n8k32, "m8n8k32.row.col.s32.s4.s4.s32", 2, 1, 1, 2, INTEGER) \
  MMA(u4_s4_m8n8k32_satfinite, "m8n8k32.row.col.satfinite.s32.u4.s4.s32", 2, 1, 1, 2, INTEGER) \
  MMA(s4_m16n8k32, "m16n8k32.row.col.s32.s4.s4.s32", 4, 2, 1, 4, INTEGER) \
  MMA(s4_u4_m16n8k32_satfinite, "m16n8k32.row.col.satfinite.s32.s4.u4.s32", 4, 2, 1, 4, INTEGER) \
  MMA(u4_m16n8k64, "m16n8k64.row.col.s32.u4.u4.s32", 4, 4, 2, 4, INTEGER) \
  MMA(s4_m16n8k64_satfinite, "m16n8k64.row.col.satfinite.s32.s4.s4.s32", 4, 4, 2, 4, INTEGER) \
  MMA(b1_and_m8n8k128, "m8n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 1, 2, INTEGER) \
  MMA(b1_xor_m8n8k128, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, 2, INTEGER) \
  MMA(b1_and_m16n8k128, "m16n8k128.row.col.s32.b1.b1.s32.and.popc", 4, 2, 1, 4, INTEGER) \
  MMA(b1_xor_m16n8k128, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 1, 4, INTEGER) \
  MMA(b1_and_m16n8k256, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, 4, INTEGER) \
  MMA(b1_xor_m16n8k256, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 4, 2, 4, INTEGER) \
  MMA(e4m3_m16n8k16, "m16n8k16.row.col.f32.e4m3.e4m3.f32", 4, 2, 1, 4, E4M3(kNearOne, kFloat)) \
  MMA(e5m2_e4m3_m16n8k16, "m16n8k16.row.col.f32.e5m2.e4m3.f32", 4, 2, 1, 4, E5M2(kWide, kFloat)) \
  MMA(e5m2_m16n8k16_special, "m16n8k16.row.col.f32.e5m2.e5m2.f32", 4, 2, 1, 4, E5M2(kSpecial, kFloat)) \
  MMA(e4m3_m16n8k16_sum_f16, "m16n8k16.row.col.f16.e4m3.e4m3.f16", 2, 2, 1, 2, E4M3(kNearOne, kHalf)) \
  MMA(e5m2_m16n8k16_sum_f16, "m16n8k16.row.col.f16.e5m2.e5m2.f16", 2, 2, 1, 2, E5M2(kSpecial, kHalf)) \
  MMA(e4m3_m16n8k32_sum_f16, "m16n8k32.row.col.f16.e4m3.e4m3.f16", 2, 4, 2, 2, E4M3(kNearOne, kHalf)) \
  MMA(e4m3_m16n8k32_sum_f16_wide, "m16n8k32.row.col.f16.e4m3.e4m3.f16", 2, 4, 2, 2, E4M3(kWide, kHalf)) \
  MMA(e4m3_e5m2_m16n8k32_sum_f16, "m16n8k32.row.col.f16.e4m3.e5m2.f16", 2, 4, 2, 2, E5M2(kWide, kHalf)) \
  MMA(e5m2_m16n8k32_sum_f16, "m16n8k32.row.col.f16.e5m2.e5m2.f16", 2, 4, 2, 2, E5M2(kSpecial, kHalf)) \
  MMA(f16_m8n8k4_row_col, "m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, 8, F16(kNearOne, kFloat)) \
  MMA(f16_m8n8k4_row_row, "m8n8k4.row.row.f32.f16.f16.f32", 8, 2, 2, 8, F16(kWide, kFloat)) \
  MMA(f16_m8n8k4_col_col, "m8n8k4.col.col.f32.f16.f16.f32", 8, 2, 2, 8, F16(kCancelling, kFloat)) \
  MMA(f16_m8n8k4_col_row, "m8n8k4.col.row.f32.f16.f16.f32", 8, 2, 2, 8, F16(kSpecial, kFloat)) \
  MMA(f16_m8n8k4_sum_f16_row_col, "m8n8k4.row.col.f16.f16.f16.f16", 4, 2, 2, 4, F16(kNearOne, kHalf)) \
  MMA(f16_m8n8k4_sum_f16_col_row, "m8n8k4.col.row.f16.f16.f16.f16", 4, 2, 2, 4, F16(kWide, kHalf)) \
  MMA(f16_m8n8k4_sum_f32_f16, "m8n8k4.row.col.f32.f16.f16.f16", 8, 2, 2, 4, F16(kNearOne, kHalf))
// clang-format on
DENSE(MMA)

// f64: registers of 64 bits.
__device__ double factor(u32 seed, Content content) {
  const u32 high = element(seed, content, 32, 11);
  return __hiloint2double(high, mix(seed + 1));
}
#define MMA_F64(NAME, SHAPE, A, B, C, CONTENT, TEXT, ...)                                       \
  __global__ void NAME(u32* out) {                                                              \
    double a[A], b[B], c[C], d[C];                                                              \
    const u32 seed = blockIdx.x * 4000 + threadIdx.x * 32;                                      \
    for (int k = 0; k < A; ++k) a[k] = factor(seed + 2 * k, Content::CONTENT);                  \
    for (int k = 0; k < B; ++k) b[k] = factor(seed + 16 + 2 * k, Content::CONTENT);             \
    for (int k = 0; k < C; ++k) c[k] = factor(seed + 24 + 2 * k, Content::CONTENT);             \
    asm volatile("mma.sync.aligned." SHAPE ".row.col.f64.f64.f64.f64 " TEXT ";" : __VA_ARGS__); \
    for (int k = 0; k < C; ++k)                                                                 \
      reinterpret_cast<double*>(out)[(blockIdx.x * C + k) * 32 + threadIdx.x] = d[k];           \
  }
#define WRITES_4D "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
#define READS_2D(x, k) "d"(x[k]), "d"(x[k + 1])
#define READS_4D(x, k) READS_2D(x, k), READS_2D(x, k + 2)
MMA_F64(f64_m8n8k4, "m8n8k4", 1, 1, 2, kWide, "{%0,%1}, {%2}, {%3}, {%4,%5}", "=d"(d[0]), "=d"(d[1])
        : "d"(a[0]), "d"(b[0]), READS_2D(c, 0))
MMA_F64(f64_m16n8k4, "m16n8k4", 2, 1, 4, kWide, "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10}", WRITES_4D
        : READS_2D(a, 0), "d"(b[0]), READS_4D(c, 0))
MMA_F64(f64_m16n8k8, "m16n8k8", 4, 2, 4, kNearOne, "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13}",
        WRITES_4D
        : READS_4D(a, 0), READS_2D(b, 0), READS_4D(c, 0))
MMA_F64(f64_m16n8k16, "m16n8k16", 8, 4, 4, kNearOne,
        "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%16,%17,%18,%19}", WRITES_4D
        : READS_4D(a, 0), READS_4D(a, 4), READS_4D(b, 0), READS_4D(c, 0))
MMA_F64(f64_m16n8k16_wide, "m16n8k16", 8, 4, 4, kWide,
        "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%16,%17,%18,%19}", WRITES_4D
        : READS_4D(a, 0), READS_4D(a, 4), READS_4D(b, 0), READS_4D(c, 0))
MMA_F64(f64_m8n8k4_special, "m8n8k4", 1, 1, 2, kSpecial, "{%0,%1}, {%2}, {%3}, {%4,%5}", "=d"(d[0]),
        "=d"(d[1])
        : "d"(a[0]), "d"(b[0]), READS_2D(c, 0))
MMA_F64(f64_m16n8k8_special, "m16n8k8", 4, 2, 4, kSpecial,
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13}", WRITES_4D
        : READS_4D(a, 0), READS_2D(b, 0), READS_4D(c, 0))
}  // namespace

void matrix_shape_cases(Table& table) {
  const Shape rounds{4};
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words) {
    add_kernel(table, std::string("matrix_shapes.") + name, kernel, words, rounds);
  };
#define ADD_MMA(NAME, FORM, D, ...) add(#NAME, NAME, 4 * 32 * D);
  DENSE(ADD_MMA)
  add("f64_m8n8k4", f64_m8n8k4, 4 * 32 * 4), add("f64_m16n8k4", f64_m16n8k4, 4 * 32 * 8);
  add("f64_m16n8k8", f64_m16n8k8, 4 * 32 * 8), add("f64_m16n8k16", f64_m16n8k16, 4 * 32 * 8);
  add("f64_m16n8k16_wide", f64_m16n8k16_wide, 4 * 32 * 8);
  add("f64_m8n8k4_special", f64_m8n8k4_special, 4 * 32 * 4),
      add("f64_m16n8k8_special", f64_m16n8k8_special, 4 * 32 * 8);
}

}  // namespace conformance
