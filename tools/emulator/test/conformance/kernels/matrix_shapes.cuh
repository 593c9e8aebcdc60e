// One mma instruction as a kernel: MMA(name, "shape.layouts.types", D, A, B, C, values), where D, A, B and C
// are the operands' register counts; mma.sp also takes metadata and a selector. One round a block; each block
// stores D word by word, 32 lanes each.
#pragma once
#include "matrix_values.cuh"

namespace conformance {

#define WRITES_2(x) "=r"(x[0]), "=r"(x[1])
#define WRITES_4(x) WRITES_2(x), "=r"(x[2]), "=r"(x[3])
#define WRITES_8(x) WRITES_4(x), "=r"(x[4]), "=r"(x[5]), "=r"(x[6]), "=r"(x[7])
#define READS_1(x) "r"(x[0])
#define READS_2(x) READS_1(x), "r"(x[1])
#define READS_4(x) READS_2(x), "r"(x[2]), "r"(x[3])
#define READS_8(x) READS_4(x), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7])
#define OPERANDS_2112 "{%0,%1}, {%2}, {%3}, {%4,%5}"
#define OPERANDS_2212 "{%0,%1}, {%2,%3}, {%4}, {%5,%6}"
#define OPERANDS_2422 "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9}"
#define OPERANDS_4214 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10}"
#define OPERANDS_4424 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13}"
#define OPERANDS_4224 "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11}"
#define OPERANDS_8224 "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%12,%13,%14,%15}"
#define OPERANDS_8228 "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%12,%13,%14,%15,%16,%17,%18,%19}"
#define OPERANDS_2222 "{%0,%1}, {%2,%3}, {%4,%5}, {%6,%7}"
#define OPERANDS_2442 "{%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%10,%11}"
#define OPERANDS_4444 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%13,%14,%15}"
#define METADATA_2222 ", %8, "
#define METADATA_2442 ", %12, "
#define METADATA_4224 ", %12, "
#define METADATA_4444 ", %16, "

// How operands are drawn: the words of A and B, and those of C.
enum class Accumulator { kFloat, kHalf, kInteger };
struct MmaValues {
  Content content;
  int bits, exponent;  // of A and B; no exponent: any bits
  Accumulator accumulator;
};
__device__ inline u32 factor_word(u32 seed, MmaValues v) {
  return v.exponent ? packed(seed, v.content, v.bits, v.exponent) : mix(seed);
}
__device__ inline u32 addend_word(u32 seed, MmaValues v, bool extreme) {
  if (v.accumulator == Accumulator::kInteger) return extreme ? 0x7fffff80 : mix(seed);
  return v.accumulator == Accumulator::kHalf ? packed(seed, v.content, 16, 5) : addend(seed, v.content);
}
// Four bits for each four elements (or two pairs, or two elements): the indices of those that are stored, in
// ascending order, or for pairs of one the index alone.
__device__ inline u32 metadata_word(u32 seed, bool of_two) {
  u32 word = 0;
  for (int k = 0; k < 8; ++k)
    word |= (of_two ? (mix(seed + k) & 1 ? 0xeu : 0x4u) : 0xedc984u >> (mix(seed + k) % 6 * 4) & 15)
            << (4 * k);
  return word;
}

#define MMA_OPERANDS(D, A, B, C, ...)                                    \
  u32 a[A], b[B], c[C], d[D];                                            \
  constexpr MmaValues kValues = __VA_ARGS__;                             \
  const u32 seed = blockIdx.x * 4000 + threadIdx.x * 32;                 \
  for (int k = 0; k < A; ++k) a[k] = factor_word(seed + k, kValues);     \
  for (int k = 0; k < B; ++k) b[k] = factor_word(seed + 8 + k, kValues); \
  for (int k = 0; k < C; ++k) c[k] = addend_word(seed + 16 + k, kValues, k == C - 1);
#define MMA_STORE(D) \
  for (int k = 0; k < D; ++k) out[(blockIdx.x * D + k) * 32 + threadIdx.x] = d[k];

#define MMA(NAME, FORM, D, A, B, C, ...)                                \
  __global__ void NAME(u32* out) {                                      \
    MMA_OPERANDS(D, A, B, C, __VA_ARGS__)                               \
    asm volatile("mma.sync.aligned." FORM " " OPERANDS_##D##A##B##C ";" \
                 : WRITES_##D(d)                                        \
                 : READS_##A(a), READS_##B(b), READS_##C(c));           \
    MMA_STORE(D)                                                        \
  }
#define MMA_SPARSE(NAME, FORM, SELECTOR, OF_TWO, D, A, B, C, ...)                  \
  __global__ void NAME(u32* out) {                                                 \
    MMA_OPERANDS(D, A, B, C, __VA_ARGS__)                                          \
    const u32 metadata = metadata_word(seed + 24, OF_TWO);                         \
    asm volatile(FORM " " OPERANDS_##D##A##B##C METADATA_##D##A##B##C SELECTOR ";" \
                 : WRITES_##D(d)                                                   \
                 : READS_##A(a), READS_##B(b), READS_##C(c), "r"(metadata));       \
    MMA_STORE(D)                                                                   \
  }

}  // namespace conformance
