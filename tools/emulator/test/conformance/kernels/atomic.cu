// Atomics (PTX ISA 9.7.13.5 and 9.7.13.6). Lanes update in any order: what is stored of the old values does
// not depend on it, except where one lane alone updates a word.
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {
namespace {

__device__ const u32 kF32[16] = {0,          0x80000000, 0x3f800000, 0xbf800000, 1,          0x80000001,
                                 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                 0x7f812345, 0x33800000, 0x3f800001, 0x4b000001};
__device__ const u64 kF64[8] = {0,
                                1,
                                0x8000000000000000,
                                0x3ff0000000000000,
                                0x7ff0000000000000,
                                0xfff0000000000000,
                                0x7ff0000000000123,
                                0x3ca0000000000000};
__device__ const u16 kF16[16] = {0,      0x8000, 0x3c00, 0xbc00, 1,      0x8001, 0x03ff, 0x0400,
                                 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7d23, 0x1000, 0x3c01, 0x6401};
__device__ const u16 kBf16[16] = {0,      0x8000, 0x3f80, 0xbf80, 1,      0x8001, 0x007f, 0x0080,
                                  0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x7f91, 0x3b80, 0x3f81, 0x4301};

// One lane a word, 256 combinations of two operands: the old value and the new one.
#define ALONE32(NAME, TEXT, TABLE)                                               \
  __global__ void NAME##_global(u32* out) {                                      \
    const u32 i = threadIdx.x;                                                   \
    u32* word = out + 256 + i;                                                   \
    *word = TABLE(i % 16);                                                       \
    u32 old;                                                                     \
    asm volatile("atom.global." TEXT " %0, [%1], %2;"                            \
                 : "=r"(old)                                                     \
                 : "l"(word), "r"(TABLE(i / 16))                                 \
                 : "memory");                                                    \
    out[i] = old;                                                                \
  }                                                                              \
  __global__ void NAME##_shared(u32* out) {                                      \
    __shared__ u32 s[256];                                                       \
    const u32 i = threadIdx.x;                                                   \
    s[i] = TABLE(i % 16);                                                        \
    u32 old;                                                                     \
    asm volatile("atom.shared." TEXT " %0, [%1], %2;"                            \
                 : "=r"(old)                                                     \
                 : "r"((u32)__cvta_generic_to_shared(s + i)), "r"(TABLE(i / 16)) \
                 : "memory");                                                    \
    out[i] = old, out[256 + i] = s[i];                                           \
  }
#define INTEGER_OPERAND(i) ((i) < 8 ? (i)-4u : mix(i))
#define F32_OPERAND(i) kF32[i]
#define F16X2_OPERAND(i) (kF16[i] | kF16[(i)*5 % 16] << 16)
#define BF16X2_OPERAND(i) (kBf16[i] | kBf16[(i)*5 % 16] << 16)
ALONE32(add_u32, "add.u32", INTEGER_OPERAND)
ALONE32(min_s32, "min.s32", INTEGER_OPERAND)
ALONE32(max_u32, "max.u32", INTEGER_OPERAND)
ALONE32(inc_u32, "inc.u32", INTEGER_OPERAND)
ALONE32(dec_u32, "dec.u32", INTEGER_OPERAND)
ALONE32(and_b32, "and.b32", INTEGER_OPERAND)
ALONE32(or_b32, "or.b32", INTEGER_OPERAND)
ALONE32(xor_b32, "xor.b32", INTEGER_OPERAND)
ALONE32(exch_b32, "exch.b32", INTEGER_OPERAND)
ALONE32(add_f32, "add.f32", F32_OPERAND)
ALONE32(add_f16x2, "add.noftz.f16x2", F16X2_OPERAND)
ALONE32(add_bf16x2, "add.noftz.bf16x2", BF16X2_OPERAND)

#define ALONE64(NAME, TEXT, TABLE)                                              \
  __global__ void NAME##_global(u32* out) {                                     \
    const u32 i = threadIdx.x;                                                  \
    u64* words = reinterpret_cast<u64*>(out);                                   \
    words[64 + i] = TABLE(i % 8);                                               \
    u64 old;                                                                    \
    asm volatile("atom.global." TEXT " %0, [%1], %2;"                           \
                 : "=l"(old)                                                    \
                 : "l"(words + 64 + i), "l"(TABLE(i / 8))                       \
                 : "memory");                                                   \
    words[i] = old;                                                             \
  }                                                                             \
  __global__ void NAME##_shared(u32* out) {                                     \
    __shared__ u64 s[64];                                                       \
    const u32 i = threadIdx.x;                                                  \
    u64* words = reinterpret_cast<u64*>(out);                                   \
    s[i] = TABLE(i % 8);                                                        \
    u64 old;                                                                    \
    asm volatile("atom.shared." TEXT " %0, [%1], %2;"                           \
                 : "=l"(old)                                                    \
                 : "r"((u32)__cvta_generic_to_shared(s + i)), "l"(TABLE(i / 8)) \
                 : "memory");                                                   \
    words[i] = old, words[64 + i] = s[i];                                       \
  }
#define WIDE_OPERAND(i) ((i) < 4 ? (u64)(i)-2 : (u64)mix(i) << 32 | mix((i) + 50))
#define F64_OPERAND(i) kF64[i]
ALONE64(add_u64, "add.u64", WIDE_OPERAND)
ALONE64(min_s64, "min.s64", WIDE_OPERAND)
ALONE64(max_u64, "max.u64", WIDE_OPERAND)
ALONE64(xor_b64, "xor.b64", WIDE_OPERAND)
ALONE64(exch_b64, "exch.b64", WIDE_OPERAND)
ALONE64(add_f64, "add.f64", F64_OPERAND)

__global__ void add_f16_scalar(u32* out) {
  const u32 i = threadIdx.x;
  u16* words = reinterpret_cast<u16*>(out);
  words[512 + i] = kF16[i % 16];
  u16 old;
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;"
               : "=h"(old)
               : "l"(words + 512 + i), "h"(kF16[i / 16])
               : "memory");
  words[i] = old;
}
__global__ void add_bf16_scalar(u32* out) {
  const u32 i = threadIdx.x;
  u16* words = reinterpret_cast<u16*>(out);
  words[512 + i] = kBf16[i % 16];
  u16 old;
  asm volatile("atom.global.add.noftz.bf16 %0, [%1], %2;"
               : "=h"(old)
               : "l"(words + 512 + i), "h"(kBf16[i / 16])
               : "memory");
  words[i] = old;
}
__global__ void add_v4_f32(u32* out) {
  const u32 i = threadIdx.x;
  u32* word = out + 128 + 4 * i;
  for (int k = 0; k < 4; ++k) word[k] = kF32[(i + k) % 16];
  u32 a, b, c, d;
  asm volatile("atom.global.add.v4.f32 {%0,%1,%2,%3}, [%4], {%5,%6,%7,%8};"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(word), "r"(kF32[(i / 2 + 3) % 16]), "r"(kF32[2]), "r"(kF32[13]), "r"(kF32[7])
               : "memory");
  out[4 * i] = a, out[4 * i + 1] = b, out[4 * i + 2] = c, out[4 * i + 3] = d;
}
__global__ void cas_b32(u32* out) {
  const u32 i = threadIdx.x;
  out[256 + i] = i % 4;
  out[i] = atomicCAS(out + 256 + i, i % 3, i + 1000);
}
__global__ void cas_b64(u32* out) {
  const u32 i = threadIdx.x;
  u64* words = reinterpret_cast<u64*>(out);
  words[64 + i] = (u64)(i % 4) << 40;
  words[i] = atomicCAS(words + 64 + i, (u64)(i % 3) << 40, (u64)i + 1000);
}
__global__ void cas_b16(u32* out) {
  const u32 i = threadIdx.x;
  u16* words = reinterpret_cast<u16*>(out);
  words[64 + i] = i % 4;
  words[i] = atomicCAS(words + 64 + i, (u16)(i % 3), (u16)(i + 1000));
}
__global__ void cas_b128(u32* out) {
  const u32 i = threadIdx.x;
  u64* words = reinterpret_cast<u64*>(out);
  u64* mine = words + 64 + 2 * i;
  mine[0] = i % 4, mine[1] = 7;
  u64 lo, hi;
  asm volatile(
      "{.reg .b128 c, v, o; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6}; atom.global.cas.b128 o, [%2], c, v;"
      " mov.b128 {%0, %1}, o;}"
      : "=l"(lo), "=l"(hi)
      : "l"(mine), "l"((u64)(i % 3)), "l"(7ull), "l"((u64)i + 1000), "l"((u64)i << 33)
      : "memory");
  words[2 * i] = lo, words[2 * i + 1] = hi;
}
__global__ void contended(u32* out) {  // 4 blocks of 64 threads on the same words
  atomicAdd(out + 0, threadIdx.x + 1), atomicMax(out + 1, mix(threadIdx.x)),
      atomicMin(out + 2, mix(threadIdx.x));
  atomicOr(out + 3, 1u << threadIdx.x % 32), atomicAnd(out + 4, ~(1u << threadIdx.x % 8)),
      atomicXor(out + 5, mix(threadIdx.x + blockIdx.x * 64));
  atomicInc(out + 6, 1000000), atomicAdd(reinterpret_cast<u64*>(out + 8), (u64)mix(threadIdx.x) << 20);
}
__global__ void generic_address(u32* out) {  // one instruction reaches shared and global words
  __shared__ u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  out[64 + threadIdx.x] = 5;
  u32* word = threadIdx.x & 1 ? s + threadIdx.x : out + 64 + threadIdx.x;
  out[threadIdx.x] = atomicAdd(word, 100);
  out[128 + threadIdx.x] = s[threadIdx.x];
}
__global__ void red_forms(u32* out) {
  const u32 i = threadIdx.x;
  for (int k = 0; k < 4; ++k) out[4 * i + k] = k == 3 ? 0x3c003c00 : i * 3;
  asm volatile(
      "red.global.add.u32 [%0], 5; red.relaxed.gpu.global.max.s32 [%0+4], 40; red.release.sys.global.xor.b32 "
      "[%0+8], 255;"
      " red.global.add.noftz.f16x2 [%0+12], %1;" ::"l"(out + 4 * i),
      "r"(0x40003c00)
      : "memory");
}
__global__ void orderings(u32* out) {
  const u32 i = threadIdx.x;
  u32 a, b, c, d;
  out[4 * i] = i;
  asm volatile(
      "atom.acquire.cta.global.add.u32 %0, [%4], 1; atom.acq_rel.gpu.global.exch.b32 %1, [%4], 77;"
      " atom.release.cluster.global.or.b32 %2, [%4], 256; atom.relaxed.sys.global.cas.b32 %3, [%4], 333, 9;"
      : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
      : "l"(out + 4 * i)
      : "memory");
  out[4 * i + 1] = a, out[4 * i + 2] = b, out[4 * i + 3] = c * 1000 + d;
}
}  // namespace

void atomic_cases(Table& table) {
  auto add = [&](const std::string& name, void (*kernel)(u32*), size_t words, Shape shape) {
    add_kernel(table, "atomic." + name, kernel, words, shape);
  };
#define BOTH32(NAME) \
  add(#NAME "_global", NAME##_global, 512, {1, 256}), add(#NAME "_shared", NAME##_shared, 512, {1, 256})
#define BOTH64(NAME) \
  add(#NAME "_global", NAME##_global, 256, {1, 64}), add(#NAME "_shared", NAME##_shared, 256, {1, 64})
  BOTH32(add_u32), BOTH32(min_s32), BOTH32(max_u32), BOTH32(inc_u32), BOTH32(dec_u32), BOTH32(and_b32);
  BOTH32(or_b32), BOTH32(xor_b32), BOTH32(exch_b32), BOTH32(add_f32), BOTH32(add_f16x2), BOTH32(add_bf16x2);
  BOTH64(add_u64), BOTH64(min_s64), BOTH64(max_u64), BOTH64(xor_b64), BOTH64(exch_b64), BOTH64(add_f64);
  add("add_f16", add_f16_scalar, 384, {1, 256}), add("add_bf16", add_bf16_scalar, 384, {1, 256});
  add("add_v4_f32", add_v4_f32, 256, {1, 32}), add("cas_b32", cas_b32, 320, {1, 64}),
      add("cas_b64", cas_b64, 256, {1, 64});
  add("cas_b16", cas_b16, 64, {1, 64}), add("cas_b128", cas_b128, 256, {1, 32}),
      add("contended", contended, 10, {4, 64});
  add("generic_address", generic_address, 192, {1, 64}), add("red", red_forms, 256, {1, 64});
  add("orderings_and_scopes", orderings, 256, {1, 64});
}

}  // namespace conformance
