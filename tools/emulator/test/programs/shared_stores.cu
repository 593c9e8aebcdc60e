// stmatrix, st.bulk and vector atomics against the host, which places and adds by the manual's rules.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "barrier.cuh"
#include "check.h"

namespace {

constexpr int kMatrixWords = 1024;

// Register j of lane t is j * 64 + 2 t in its low half, one more in its high half. Rows are 48 bytes apart,
// in an order that the lanes' addresses alone decide.
template <int kForm>
__global__ void store_matrices(uint32_t* out) {
  __shared__ alignas(16) uint32_t memory[kMatrixWords];
  const uint32_t t = threadIdx.x;
  for (uint32_t i = t; i < kMatrixWords; i += 32) memory[i] = 0xEEEEEEEE;
  __syncwarp();
  const uint32_t row = shared_address(memory) + (t * 5 % 32) * 48;
  uint32_t v[4];
  for (uint32_t j = 0; j < 4; ++j) v[j] = j * 64 + 2 * t | (j * 64 + 2 * t + 1) << 16;
#define STORE(NUMBER, FORM, LIST)                                                                        \
  if constexpr (kForm == NUMBER)                                                                         \
  asm volatile("stmatrix.sync.aligned.m8n8." FORM " [%0], {" LIST "};" ::"r"(row), "r"(v[0]), "r"(v[1]), \
               "r"(v[2]), "r"(v[3])                                                                      \
               : "memory")
  STORE(0, "x1.shared.b16", "%1");
  STORE(1, "x2.shared.b16", "%1, %2");
  STORE(2, "x4.shared.b16", "%1, %2, %3, %4");
  STORE(3, "x1.trans.shared.b16", "%1");
  STORE(4, "x2.trans.shared::cta.b16", "%1, %2");
  STORE(5, "x4.trans.shared::cta.b16", "%1, %2, %3, %4");
#undef STORE
  __syncwarp();
  for (uint32_t i = t; i < kMatrixWords; i += 32) out[i] = memory[i];
}

// PTX ISA 9.7.14.5.16: lane 8 j + r gives the address of row r of matrix j; row r, elements 2 c and 2 c + 1
// come from lane 4 r + c, or with .trans element (r, c) from the lane that holds (c, r).
int wrong_matrices(const char* what, const std::vector<uint32_t>& got, int matrices, bool transposed) {
  std::vector<uint16_t> want(kMatrixWords * 2, 0xEEEE);
  for (int j = 0; j < matrices; ++j) {
    for (int r = 0; r < 8; ++r) {
      const int base = (8 * j + r) * 5 % 32 * 24;
      for (int c = 0; c < 8; ++c) {
        const int row = transposed ? c : r, column = transposed ? r : c;
        want[base + c] = static_cast<uint16_t>(j * 64 + 2 * (4 * row + column / 2) + column % 2);
      }
    }
  }
  int wrong = 0;
  for (int i = 0; i < kMatrixWords; ++i) wrong += got[i] != (want[2 * i] | uint32_t{want[2 * i + 1]} << 16);
  if (wrong) std::printf("  %s: %d words wrong\n", what, wrong);
  return wrong;
}

template <int kForm>
int matrix_form(const char* what, int matrices) {
  auto* out = device_zeros<uint32_t>(kMatrixWords);
  store_matrices<kForm><<<1, 32>>>(out);
  return wrong_matrices(what, host_copy(out, kMatrixWords), matrices, kForm >= 3);
}

int store_matrix() {
  return matrix_form<0>("x1", 1) + matrix_form<1>("x2", 2) + matrix_form<2>("x4", 4) +
         matrix_form<3>("x1.trans", 1) + matrix_form<4>("x2.trans", 2) + matrix_form<5>("x4.trans", 4);
}

constexpr uint32_t kBulkBytes = 4096;

__global__ void zero_bulk(uint32_t offset, uint64_t size, uint32_t* out) {
  __shared__ alignas(16) uint32_t memory[kBulkBytes / 4];
  for (uint32_t i = threadIdx.x; i < kBulkBytes / 4; i += blockDim.x) memory[i] = ~i;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile(
        "st.bulk.weak.shared::cta [%0], %1, 0;" ::"l"(static_cast<uint64_t>(shared_address(memory) + offset)),
        "l"(size)
        : "memory");
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kBulkBytes / 4; i += blockDim.x) out[i] = memory[i];
}

int store_bulk() {
  int wrong = 0;
  const uint32_t cases[][2] = {{0, 8}, {16, 24}, {8, 1000}, {0, kBulkBytes}, {kBulkBytes - 8, 8}, {64, 0}};
  for (const auto& [offset, size] : cases) {
    auto* out = device_zeros<uint32_t>(kBulkBytes / 4);
    zero_bulk<<<1, 64>>>(offset, size, out);
    const auto got = host_copy(out, kBulkBytes / 4);
    for (uint32_t i = 0; i < kBulkBytes / 4; ++i)
      wrong += got[i] != (i * 4 >= offset && i * 4 < offset + size ? 0 : ~i);
  }
  return wrong;
}

constexpr int kThreads = 256, kGroups = 4;  // kThreads / kGroups threads add to one vector

// Form 0 to 3: f32 with red.v2, red.v4, atom.v2, atom.v4. 4 to 7: f16x2 and bf16x2, red and atom, v2.
template <int kForm>
__global__ void add_vectors(uint32_t* sums, uint32_t* before) {
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t* to = sums + t % kGroups * 4;
  uint32_t v[4], old[4] = {};
  for (uint32_t e = 0; e < 4; ++e) {
    const float value = static_cast<float>(1 + e);
    if constexpr (kForm < 4) v[e] = __float_as_uint(value);
    if constexpr (kForm == 4 || kForm == 5) v[e] = __half_as_ushort(__float2half(value)) * 0x10001u;
    if constexpr (kForm == 6 || kForm == 7) v[e] = __bfloat16_as_ushort(__float2bfloat16(value)) * 0x10001u;
  }
#define RED2(NUMBER, TEXT)       \
  if constexpr (kForm == NUMBER) \
  asm volatile("red." TEXT " [%0], {%1, %2};" ::"l"(to), "r"(v[0]), "r"(v[1]) : "memory")
#define ATOM2(NUMBER, TEXT)                              \
  if constexpr (kForm == NUMBER)                         \
  asm volatile("atom." TEXT " {%0, %1}, [%2], {%3, %4};" \
               : "=r"(old[0]), "=r"(old[1])              \
               : "l"(to), "r"(v[0]), "r"(v[1])           \
               : "memory")
  RED2(0, "global.v2.f32.add");
  if constexpr (kForm == 1)
    asm volatile("red.relaxed.gpu.global.v4.f32.add [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v[0]), "r"(v[1]),
                 "r"(v[2]), "r"(v[3])
                 : "memory");
  ATOM2(2, "global.v2.f32.add");
  if constexpr (kForm == 3)
    asm volatile("atom.global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
                 : "=r"(old[0]), "=r"(old[1]), "=r"(old[2]), "=r"(old[3])
                 : "l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
  RED2(4, "global.v2.f16x2.add.noftz");
  ATOM2(5, "global.v2.f16x2.add.noftz");
  RED2(6, "global.v2.bf16x2.add.noftz");
  ATOM2(7, "global.v2.bf16x2.add.noftz");
#undef RED2
#undef ATOM2
  for (int e = 0; e < 4; ++e) before[t * 4 + e] = old[e];
}

float element(int form, uint32_t word, int half) {
  const auto bits = static_cast<uint16_t>(word >> 16 * half);
  if (form < 4) {
    float value;
    std::memcpy(&value, &word, 4);
    return value;
  }
  return form < 6 ? __half2float(__ushort_as_half(bits)) : __bfloat162float(__ushort_as_bfloat16(bits));
}

template <int kForm>
int vector_form() {
  constexpr bool kAtom = kForm == 2 || kForm == 3 || kForm == 5 || kForm == 7;
  constexpr int kElements = kForm == 1 || kForm == 3 ? 4 : 2;
  auto* sums = device_zeros<uint32_t>(4 * kGroups);
  auto* before = device_zeros<uint32_t>(4 * kThreads);
  add_vectors<kForm><<<kThreads / 64, 64>>>(sums, before);
  const auto total = host_copy(sums, 4 * kGroups);
  const auto old = host_copy(before, 4 * kThreads);
  constexpr int kAdds = kThreads / kGroups;
  int wrong = 0;
  for (int g = 0; g < kGroups; ++g) {
    for (int e = 0; e < 4; ++e) {
      for (int half = 0; half < (kForm < 4 ? 1 : 2); ++half)
        wrong += element(kForm, total[g * 4 + e], half) != (e < kElements ? kAdds * (1 + e) : 0);
    }
    // Each thread of a group found another multiple of its addend.
    for (int e = 0; kAtom && e < kElements; ++e) {
      std::vector<bool> seen(kAdds);
      for (int t = g; t < kThreads; t += kGroups) {
        const float value = element(kForm, old[t * 4 + e], 0) / static_cast<float>(1 + e);
        const int index = static_cast<int>(value);
        wrong += index < 0 || index >= kAdds || static_cast<float>(index) != value || seen[index];
        if (index >= 0 && index < kAdds) seen[index] = true;
      }
    }
  }
  if (wrong) std::printf("  form %d: %d wrong\n", kForm, wrong);
  return wrong;
}

int vector_atomics() {
  return vector_form<0>() + vector_form<1>() + vector_form<2>() + vector_form<3>() + vector_form<4>() +
         vector_form<5>() + vector_form<6>() + vector_form<7>();
}

constexpr Case kCases[] = {
    {"store_matrix", store_matrix}, {"store_bulk", store_bulk}, {"vector_atomics", vector_atomics}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
