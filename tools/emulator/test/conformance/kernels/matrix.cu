// ldmatrix, stmatrix, movmatrix and mma.sync (PTX ISA 9.7.14.5).
#include "matrix_values.cuh"

namespace conformance {
namespace {

__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

#define LDMATRIX(NAME, FORM, COUNT, REGISTERS)                                                  \
  __global__ void NAME(u32* out) {                                                              \
    __shared__ alignas(16) u32 s[256];                                                          \
    for (u32 k = threadIdx.x; k < 256; k += 32) s[k] = (2 * k + 1) | (2 * k + 2) << 16;         \
    __syncwarp();                                                                               \
    u32 r[4] = {0, 0, 0, 0};                                                                    \
    const u32 at = shared_address(s) + (threadIdx.x * 5 + 3) % 64 * 16; /* rows in any order */ \
    asm volatile("ldmatrix.sync.aligned.m8n8." FORM ".shared.b16 {" REGISTERS "}, [%4];"        \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                               \
                 : "r"(at)                                                                      \
                 : "memory");                                                                   \
    for (u32 k = 0; k < COUNT; ++k) out[COUNT * threadIdx.x + k] = r[k];                        \
  }
LDMATRIX(ldmatrix_x1, "x1", 1, "%0")
LDMATRIX(ldmatrix_x2, "x2", 2, "%0,%1")
LDMATRIX(ldmatrix_x4, "x4", 4, "%0,%1,%2,%3")
LDMATRIX(ldmatrix_x1_trans, "x1.trans", 1, "%0")
LDMATRIX(ldmatrix_x2_trans, "x2.trans", 2, "%0,%1")
LDMATRIX(ldmatrix_x4_trans, "x4.trans", 4, "%0,%1,%2,%3")

#define STMATRIX(NAME, FORM, REGISTERS)                                                                   \
  __global__ void NAME(u32* out) {                                                                        \
    __shared__ alignas(16) u32 s[256];                                                                    \
    for (u32 k = threadIdx.x; k < 256; k += 32) s[k] = 0xeeeeeeee;                                        \
    __syncwarp();                                                                                         \
    const u32 i = threadIdx.x * 8;                                                                        \
    const u32 at = shared_address(s) + (threadIdx.x * 5 + 3) % 64 * 16;                                   \
    asm volatile(                                                                                         \
        "stmatrix.sync.aligned.m8n8." FORM ".shared.b16 [%4], {" REGISTERS "};" ::"r"(i | (i + 1) << 16), \
        "r"((i + 2) | (i + 3) << 16), "r"((i + 4) | (i + 5) << 16), "r"((i + 6) | (i + 7) << 16), "r"(at) \
        : "memory");                                                                                      \
    __syncwarp();                                                                                         \
    for (u32 k = threadIdx.x; k < 256; k += 32) out[k] = s[k];                                            \
  }
STMATRIX(stmatrix_x1, "x1", "%0")
STMATRIX(stmatrix_x2, "x2", "%0,%1")
STMATRIX(stmatrix_x4, "x4", "%0,%1,%2,%3")
STMATRIX(stmatrix_x1_trans, "x1.trans", "%0")
STMATRIX(stmatrix_x2_trans, "x2.trans", "%0,%1")
STMATRIX(stmatrix_x4_trans, "x4.trans", "%0,%1,%2,%3")

__global__ void movmatrix(u32* out) {
  u32 r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(r)
               : "r"(2 * threadIdx.x + 1 | (2 * threadIdx.x + 2) << 16));
  out[threadIdx.x] = r;
}

// One round a block; 128 words of D each.
#define MMA_16816(NAME, TYPE, EXPONENT, CONTENT)                                                           \
  __global__ void NAME(u32* out) {                                                                         \
    u32 a[4], b[2], c[4], d[4];                                                                            \
    const u32 seed = blockIdx.x * 1000 + threadIdx.x * 16;                                                 \
    for (int k = 0; k < 4; ++k)                                                                            \
      a[k] = packed(seed + k, CONTENT, 16, EXPONENT), c[k] = addend(seed + 8 + k, CONTENT);                \
    for (int k = 0; k < 2; ++k) b[k] = packed(seed + 4 + k, CONTENT, 16, EXPONENT);                        \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                                    \
                 ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                          \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), \
                   "r"(c[2]), "r"(c[3]));                                                                  \
    for (int k = 0; k < 4; ++k) out[blockIdx.x * 128 + k * 32 + threadIdx.x] = d[k];                       \
  }
MMA_16816(bf16_near_one, "bf16", 8, Content::kNearOne)
MMA_16816(bf16_whole, "bf16", 8, Content::kWhole)
MMA_16816(bf16_wide, "bf16", 8, Content::kWide)
MMA_16816(bf16_cancelling, "bf16", 8, Content::kCancelling)
MMA_16816(bf16_special, "bf16", 8, Content::kSpecial)
MMA_16816(f16_near_one, "f16", 5, Content::kNearOne)
MMA_16816(f16_whole, "f16", 5, Content::kWhole)
MMA_16816(f16_wide, "f16", 5, Content::kWide)
MMA_16816(f16_cancelling, "f16", 5, Content::kCancelling)
MMA_16816(f16_special, "f16", 5, Content::kSpecial)

#define MMA_1688(NAME, SHAPE, TYPE, BITS, EXPONENT, A_WORDS, CONTENT)                                        \
  __global__ void NAME(u32* out) {                                                                           \
    u32 a[4], b[2], c[4], d[4];                                                                              \
    const u32 seed = blockIdx.x * 1000 + threadIdx.x * 16;                                                   \
    for (int k = 0; k < 4; ++k)                                                                              \
      a[k] = packed(seed + k, CONTENT, BITS, EXPONENT), c[k] = addend(seed + 8 + k, CONTENT);                \
    for (int k = 0; k < 2; ++k) b[k] = packed(seed + 4 + k, CONTENT, BITS, EXPONENT);                        \
    if constexpr (A_WORDS == 2)                                                                              \
      asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE                                   \
                   ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"                                      \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                          \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));           \
    else                                                                                                     \
      asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE                                   \
                   ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                          \
                   : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                          \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), \
                     "r"(c[2]), "r"(c[3]));                                                                  \
    for (int k = 0; k < 4; ++k) out[blockIdx.x * 128 + k * 32 + threadIdx.x] = d[k];                         \
  }
MMA_1688(bf16_m16n8k8, "m16n8k8", "bf16", 16, 8, 2, Content::kWide)
MMA_1688(f16_m16n8k8, "m16n8k8", "f16", 16, 5, 2, Content::kNearOne)
MMA_1688(tf32_m16n8k8, "m16n8k8", "tf32", 32, 8, 4, Content::kWide)
MMA_1688(tf32_m16n8k4, "m16n8k4", "tf32", 32, 8, 2, Content::kNearOne)
MMA_1688(e4m3_m16n8k32, "m16n8k32", "e4m3", 8, 4, 4, Content::kNearOne)
MMA_1688(e5m2_m16n8k32, "m16n8k32", "e5m2", 8, 5, 4, Content::kWide)

#define MMA_HALF_SUM(NAME, CONTENT)                                                                   \
  __global__ void NAME(u32* out) {                                                                    \
    u32 a[4], b[2], c[2], d[2];                                                                       \
    const u32 seed = blockIdx.x * 1000 + threadIdx.x * 16;                                            \
    for (int k = 0; k < 4; ++k) a[k] = packed(seed + k, CONTENT, 16, 5);                              \
    for (int k = 0; k < 2; ++k)                                                                       \
      b[k] = packed(seed + 4 + k, CONTENT, 16, 5), c[k] = packed(seed + 8 + k, CONTENT, 16, 5);       \
    asm volatile(                                                                                     \
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};" \
        : "=r"(d[0]), "=r"(d[1])                                                                      \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));    \
    for (int k = 0; k < 2; ++k) out[blockIdx.x * 64 + k * 32 + threadIdx.x] = d[k];                   \
  }
MMA_HALF_SUM(f16_sum_near_one, Content::kNearOne)
MMA_HALF_SUM(f16_sum_wide, Content::kWide)
MMA_HALF_SUM(f16_sum_special, Content::kSpecial)

#define MMA_INTEGER(NAME, TYPES, SATFINITE)                                                                \
  __global__ void NAME(u32* out) {                                                                         \
    u32 a[4], b[2], c[4], d[4];                                                                            \
    const u32 seed = blockIdx.x * 1000 + threadIdx.x * 16;                                                 \
    for (int k = 0; k < 4; ++k) a[k] = mix(seed + k), c[k] = k == 3 ? 0x7fffff00 : mix(seed + 8 + k);      \
    for (int k = 0; k < 2; ++k) b[k] = mix(seed + 4 + k);                                                  \
    asm volatile("mma.sync.aligned.m16n8k32.row.col" SATFINITE ".s32." TYPES                               \
                 ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                          \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), \
                   "r"(c[2]), "r"(c[3]));                                                                  \
    for (int k = 0; k < 4; ++k) out[blockIdx.x * 128 + k * 32 + threadIdx.x] = d[k];                       \
  }
MMA_INTEGER(s8_m16n8k32, "s8.s8", "")
MMA_INTEGER(u8_s8_m16n8k32, "u8.s8", ".satfinite")
}  // namespace

void matrix_cases(Table& table) {
  auto add = [&](const std::string& name, void (*kernel)(u32*), size_t words, Shape shape = {}) {
    add_kernel(table, "matrix." + name, kernel, words, shape);
  };
  add("ldmatrix_x1", ldmatrix_x1, 32), add("ldmatrix_x2", ldmatrix_x2, 64),
      add("ldmatrix_x4", ldmatrix_x4, 128);
  add("ldmatrix_x1_trans", ldmatrix_x1_trans, 32), add("ldmatrix_x2_trans", ldmatrix_x2_trans, 64);
  add("ldmatrix_x4_trans", ldmatrix_x4_trans, 128), add("movmatrix", movmatrix, 32);
  add("stmatrix_x1", stmatrix_x1, 256), add("stmatrix_x2", stmatrix_x2, 256),
      add("stmatrix_x4", stmatrix_x4, 256);
  add("stmatrix_x1_trans", stmatrix_x1_trans, 256), add("stmatrix_x2_trans", stmatrix_x2_trans, 256),
      add("stmatrix_x4_trans", stmatrix_x4_trans, 256);
  const Shape rounds{8};
  auto mma = [&](const std::string& name, void (*kernel)(u32*), size_t words = 1024) {
    add("mma_" + name, kernel, words, rounds);
  };
  mma("bf16_near_one", bf16_near_one), mma("bf16_whole", bf16_whole), mma("bf16_wide", bf16_wide);
  mma("bf16_cancelling", bf16_cancelling), mma("bf16_special", bf16_special);
  mma("f16_near_one", f16_near_one), mma("f16_whole", f16_whole), mma("f16_wide", f16_wide);
  mma("f16_cancelling", f16_cancelling), mma("f16_special", f16_special);
  mma("bf16_m16n8k8", bf16_m16n8k8), mma("f16_m16n8k8", f16_m16n8k8), mma("tf32_m16n8k8", tf32_m16n8k8),
      mma("tf32_m16n8k4", tf32_m16n8k4);
  mma("e4m3_m16n8k32", e4m3_m16n8k32), mma("e5m2_m16n8k32", e5m2_m16n8k32);
  mma("f16_sum_near_one", f16_sum_near_one, 512), mma("f16_sum_wide", f16_sum_wide, 512),
      mma("f16_sum_special", f16_sum_special, 512);
  mma("s8_m16n8k32", s8_m16n8k32), mma("u8_s8_m16n8k32_satfinite", u8_s8_m16n8k32);
}

}  // namespace conformance
