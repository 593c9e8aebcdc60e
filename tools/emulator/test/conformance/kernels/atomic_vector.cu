// Vector atomics and reductions of floating-point elements (PTX ISA 9.7.13.5 and 9.7.13.6), one lane a
// vector; 16-byte atomics in shared memory; accesses with a cache policy.
#include "../launch.cuh"
#include "../operands.h"

namespace conformance {
namespace {

__device__ const u32 kF32[16] = {0,          0x80000000, 0x3f800000, 0xbf800000, 1,          0x80000001,
                                 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                                 0x7f812345, 0x33800000, 0x3f800001, 0x4b000001};
__device__ const u16 kF16[16] = {0,      0x8000, 0x3c00, 0xbc00, 1,      0x8001, 0x03ff, 0x0400,
                                 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7d23, 0x1000, 0x3c01, 0x6401};
__device__ const u16 kBf16[16] = {0,      0x8000, 0x3f80, 0xbf80, 1,      0x8001, 0x007f, 0x0080,
                                  0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x7f91, 0x3b80, 0x3f81, 0x4301};
__device__ u32 f32_value(u32 i) { return kF32[i % 16]; }
__device__ u16 f16_value(u32 i) { return kF16[i % 16]; }
__device__ u16 bf16_value(u32 i) { return kBf16[i % 16]; }
__device__ u32 f16x2_value(u32 i) { return kF16[i % 16] | kF16[(i * 5 + 3) % 16] << 16; }
__device__ u32 bf16x2_value(u32 i) { return kBf16[i % 16] | kBf16[(i * 5 + 3) % 16] << 16; }

#define GIVES_2(K) "=" K(old[0]), "=" K(old[1])
#define GIVES_4(K) GIVES_2(K), "=" K(old[2]), "=" K(old[3])
#define GIVES_8(K) GIVES_4(K), "=" K(old[4]), "=" K(old[5]), "=" K(old[6]), "=" K(old[7])
#define TAKES_2(K) K(b[0]), K(b[1])
#define TAKES_4(K) TAKES_2(K), K(b[2]), K(b[3])
#define TAKES_8(K) TAKES_4(K), K(b[4]), K(b[5]), K(b[6]), K(b[7])
#define ATOM_2 "{%0,%1}, [%2], {%3,%4};"
#define ATOM_4 "{%0,%1,%2,%3}, [%4], {%5,%6,%7,%8};"
#define ATOM_8 "{%0,%1,%2,%3,%4,%5,%6,%7}, [%8], {%9,%10,%11,%12,%13,%14,%15,%16};"
#define RED_2 "[%0], {%1,%2};"
#define RED_4 "[%0], {%1,%2,%3,%4};"
#define RED_8 "[%0], {%1,%2,%3,%4,%5,%6,%7,%8};"

// 128 lanes: old values, what atom leaves, what red leaves.
#define VECTOR(NAME, FORM, N, TYPE, K, VALUE)                                                                \
  __global__ void NAME(u32* out) {                                                                           \
    const u32 i = threadIdx.x;                                                                               \
    TYPE *words = reinterpret_cast<TYPE*>(out), *atom = words + (128 + i) * N, *red = words + (256 + i) * N; \
    TYPE b[N], old[N];                                                                                       \
    for (int k = 0; k < N; ++k) atom[k] = red[k] = VALUE(i + 3 * k), b[k] = VALUE(i / 16 + 8 * (k & 1) + k); \
    asm volatile("atom.global." FORM " " ATOM_##N : GIVES_##N(K) : "l"(atom), TAKES_##N(K) : "memory");      \
    asm volatile("red.global." FORM " " RED_##N ::"l"(red), TAKES_##N(K) : "memory");                        \
    for (int k = 0; k < N; ++k) words[i * N + k] = old[k];                                                   \
  }
// clang-format off
#define LIST(VECTOR) \
  VECTOR(add_v2_f32, "add.v2.f32", 2, u32, "r", f32_value) \
  VECTOR(add_v2_f16, "add.noftz.v2.f16", 2, u16, "h", f16_value) \
  VECTOR(add_v4_f16, "add.noftz.v4.f16", 4, u16, "h", f16_value) \
  VECTOR(add_v8_f16, "add.noftz.v8.f16", 8, u16, "h", f16_value) \
  VECTOR(min_v2_f16, "min.noftz.v2.f16", 2, u16, "h", f16_value) \
  VECTOR(max_v8_f16, "max.noftz.v8.f16", 8, u16, "h", f16_value) \
  VECTOR(add_v2_bf16, "add.noftz.v2.bf16", 2, u16, "h", bf16_value) \
  VECTOR(add_v4_bf16, "add.noftz.v4.bf16", 4, u16, "h", bf16_value) \
  VECTOR(add_v8_bf16, "add.noftz.v8.bf16", 8, u16, "h", bf16_value) \
  VECTOR(min_v8_bf16, "min.noftz.v8.bf16", 8, u16, "h", bf16_value) \
  VECTOR(max_v4_bf16, "max.noftz.v4.bf16", 4, u16, "h", bf16_value) \
  VECTOR(add_v2_f16x2, "add.noftz.v2.f16x2", 2, u32, "r", f16x2_value) \
  VECTOR(min_v4_f16x2, "min.noftz.v4.f16x2", 4, u32, "r", f16x2_value) \
  VECTOR(max_v2_f16x2, "max.noftz.v2.f16x2", 2, u32, "r", f16x2_value) \
  VECTOR(add_v4_bf16x2, "add.noftz.v4.bf16x2", 4, u32, "r", bf16x2_value) \
  VECTOR(min_v2_bf16x2, "min.noftz.v2.bf16x2", 2, u32, "r", bf16x2_value) \
  VECTOR(max_v4_bf16x2, "max.noftz.v4.bf16x2", 4, u32, "r", bf16x2_value)
// clang-format on
LIST(VECTOR)

__global__ void exch_b128_shared(u32* out) {
  __shared__ alignas(16) u64 s[64];
  const u32 i = threadIdx.x;
  s[2 * i] = i, s[2 * i + 1] = 7 * i;
  u64 low, high;
  asm volatile(
      "{.reg .b128 v, o; mov.b128 v, {%3, %4}; atom.relaxed.cta.shared.exch.b128 o, [%2], v; mov.b128 {%0, "
      "%1}, o;}"
      : "=l"(low), "=l"(high)
      : "r"((u32)__cvta_generic_to_shared(s + 2 * i)), "l"((u64)i << 40), "l"((u64)i + 5)
      : "memory");
  u64* words = reinterpret_cast<u64*>(out) + 4 * i;
  words[0] = low, words[1] = high, words[2] = s[2 * i], words[3] = s[2 * i + 1];
}
__global__ void cas_b128_shared(u32* out) {
  __shared__ alignas(16) u64 s[64];
  const u32 i = threadIdx.x;
  s[2 * i] = i % 4, s[2 * i + 1] = 7;
  u64 low, high;
  asm volatile(
      "{.reg .b128 c, v, o; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6}; atom.shared.cas.b128 o, [%2], c, v;"
      " mov.b128 {%0, %1}, o;}"
      : "=l"(low), "=l"(high)
      : "r"((u32)__cvta_generic_to_shared(s + 2 * i)), "l"((u64)(i % 3)), "l"(7ull), "l"((u64)i << 40),
        "l"((u64)i + 5)
      : "memory");
  u64* words = reinterpret_cast<u64*>(out) + 4 * i;
  words[0] = low, words[1] = high, words[2] = s[2 * i], words[3] = s[2 * i + 1];
}

// Policies and hints change speed only.
__global__ void cache_policy(u32* out) {
  __shared__ alignas(16) u32 s[128];
  const u32 i = threadIdx.x, at = (u32)__cvta_generic_to_shared(s + 4 * i);
  u32 *first = out + 128 + 4 * i, *second = out + 256 + 4 * i, *third = out + 384 + 4 * i,
      *fourth = out + 512 + 4 * i;
  for (int k = 0; k < 4; ++k)
    first[k] = 10 * i + k, second[k] = 0x3f800000 + i, third[k] = 3 * i, fourth[k] = 5;
  u64 policy, cut, converted;
  asm volatile(
      "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;"
      " createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %1, [%3], 256, 512;"
      " createpolicy.cvt.L2.b64 %2, 0x12F0000000000000;"
      : "=l"(policy), "=l"(cut), "=l"(converted)
      : "l"(out));
  u32 a, b, c, d;
  asm volatile("ld.global.L1::evict_first.L2::cache_hint.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(first), "l"(policy)
               : "memory");
  asm volatile("st.global.L1::no_allocate.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, %5;" ::"l"(out + 4 * i),
               "r"(d), "r"(c), "r"(b), "r"(a), "l"(cut)
               : "memory");
  asm volatile("red.global.add.L2::cache_hint.v4.f32 [%0], {%1,%1,%1,%1}, %2;" ::"l"(second), "r"(0x40000000),
               "l"(policy)
               : "memory");
  asm volatile("atom.global.add.L2::cache_hint.u32 %0, [%1], %2, %3;"
               : "=r"(a)
               : "l"(third), "r"(i), "l"(converted)
               : "memory");
  asm volatile("red.global.max.L2::cache_hint.s32 [%0], %1, %2;" ::"l"(fourth + 1), "r"(i), "l"(policy)
               : "memory");
  third[1] = a, fourth[2] = i;
  asm volatile(
      "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(at),
      "l"(first), "l"(policy)
      : "memory");
  third[2] = s[4 * i + 3];
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 8, 4, %2; cp.async.wait_all;" ::"r"(at),
               "l"(second), "l"(policy)
               : "memory");
  third[3] = s[4 * i] + s[4 * i + 1];
  asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1]; st.mmio.relaxed.sys.global.u32 [%1], 77;"
               : "=r"(a)
               : "l"(fourth + 3)
               : "memory");
  fourth[2] += a;
}
}  // namespace

void atomic_vector_cases(Table& table) {
#define ADD_VECTOR(NAME, FORM, N, TYPE, ...) \
  add_kernel(table, "atomic_vector." #NAME, NAME, 384 * N * sizeof(TYPE) / 4, {1, 128});
  LIST(ADD_VECTOR)
  add_kernel(table, "atomic_vector.exch_b128_shared", exch_b128_shared, 256);
  add_kernel(table, "atomic_vector.cas_b128_shared", cas_b128_shared, 256);
  add_kernel(table, "atomic_vector.cache_policy", cache_policy, 640);
}

}  // namespace conformance
