// Forms of tcgen05.mma that attention does not use - lane masks, a scaled accumulator, collector hints, the
// spellings of enable-input-d - against sums made on the host. Operands lie in 16-byte columns without
// swizzle (PTX ISA 9.7.16.3); every accumulator starts with a known value in every lane.
#include <cuda_bf16.h>

#include <cmath>

#include "barrier.cuh"
#include "check.h"

namespace {

constexpr int kColumns = 128;  // of tensor memory: four accumulators of kN
constexpr int kN = 32;
constexpr int kRowBytes = 32;  // of an operand, for one instruction

enum Form {
  kPlain,
  kImmediateFalse,
  kImmediateTrue,
  kNegated,
  kMask,
  kMaskAccumulate,
  kScale1,
  kScale3,
  kScale15,
  kScale15Mask,
  kCollectors
};

struct Job {
  uint64_t a, b;  // descriptors without their start address
  uint32_t idesc, a_bytes, b_bytes;
  uint32_t mask[8];
  uint32_t flag;
};

#define MMA(TEXT, TAIL)                                                                                  \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::" TEXT                       \
               " [%0], %1, %2, %3, " TAIL ";}" ::"r"(d),                                                 \
               "l"(a), "l"(b), "r"(job.idesc), "r"(job.flag), "r"(job.mask[0]), "r"(job.mask[1]),        \
               "r"(job.mask[2]), "r"(job.mask[3]), "r"(job.mask[4]), "r"(job.mask[5]), "r"(job.mask[6]), \
               "r"(job.mask[7])                                                                          \
               : "memory")

template <int kGroup, bool kTf32, int kForm>
__device__ void issue(uint32_t d, uint64_t a, uint64_t b, const Job& job) {
  if constexpr (kGroup == 2) {
    if constexpr (kForm == kMask || kForm == kMaskAccumulate)
      MMA("2.kind::f16", "{%5, %6, %7, %8, %9, %10, %11, %12}, p");
    if constexpr (kForm == kScale3) MMA("2.kind::f16", "p, 3");
    if constexpr (kForm == kScale15Mask) MMA("2.kind::f16", "{%5, %6, %7, %8, %9, %10, %11, %12}, p, 15");
  } else if constexpr (kTf32) {
    if constexpr (kForm == kPlain) MMA("1.kind::tf32", "p");
    if constexpr (kForm == kScale1) MMA("1.kind::tf32", "p, 1");
    if constexpr (kForm == kScale15) MMA("1.kind::tf32", "p, 15");
    if constexpr (kForm == kMask) MMA("1.kind::tf32", "{%5, %6, %7, %8}, p");
  } else {
    if constexpr (kForm == kPlain) MMA("1.kind::f16", "p");
    if constexpr (kForm == kImmediateFalse) MMA("1.kind::f16", "0");
    if constexpr (kForm == kImmediateTrue) MMA("1.kind::f16", "1");
    if constexpr (kForm == kNegated) MMA("1.kind::f16", "!p");
    if constexpr (kForm == kMask || kForm == kMaskAccumulate) MMA("1.kind::f16", "{%5, %6, %7, %8}, p");
    if constexpr (kForm == kScale1) MMA("1.kind::f16", "p, 1");
    if constexpr (kForm == kScale3) MMA("1.kind::f16", "p, 3");
    if constexpr (kForm == kScale15) MMA("1.kind::f16", "p, 15");
    if constexpr (kForm == kScale15Mask) MMA("1.kind::f16", "{%5, %6, %7, %8}, p, 15");
    if constexpr (kForm == kCollectors) {
      // One A, four parts of B, four accumulators.
      constexpr uint32_t kPart = kN / 8 * 128 >> 4;
      MMA("1.kind::f16.collector::a::fill", "p");
      d += kN, b += kPart;
      MMA("1.kind::f16.collector::a::use", "p");
      d += kN, b += kPart;
      MMA("1.kind::f16.collector::a::lastuse", "p");
      d += kN, b += kPart;
      MMA("1.kind::f16.collector::a::discard", "p");
    }
  }
}
#undef MMA

__host__ __device__ float initial(int lane, int column) { return static_cast<float>(lane * 4 - column * 32); }

template <int kGroup, bool kTf32, int kForm>
__global__ void __launch_bounds__(128) once(Job job, const uint4* images, uint32_t* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ uint64_t done;
  __shared__ uint32_t tmem;
  uint32_t rank = 0;
  if constexpr (kGroup == 2) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const uint32_t total = (job.a_bytes + job.b_bytes) / 16;
  for (uint32_t i = threadIdx.x; i < total; i += 128)
    reinterpret_cast<uint4*>(memory)[i] = images[rank * total + i];
  fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    mbarrier::init(&done, 1);
    mbarrier::fence_init();
  }
#define GROUPED(ONE, TWO)      \
  if constexpr (kGroup == 1) { \
    ONE;                       \
  } else {                     \
    TWO;                       \
  }
  if (threadIdx.x < 32) {
#define ALLOCATE(GROUP)                          \
  asm volatile("tcgen05.alloc.cta_group::" GROUP \
               ".sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(shared_address(&tmem)))
    GROUPED(ALLOCATE("1"), ALLOCATE("2"))
#undef ALLOCATE
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const uint32_t own = tmem + (threadIdx.x / 32 * 32 << 16);
  for (int c = 0; c < kColumns; ++c)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(own + c),
                 "r"(__float_as_uint(initial(threadIdx.x, c))));
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if constexpr (kGroup == 2) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (threadIdx.x == 0 && rank == 0) {
    const uint32_t base = shared_address(memory);
    issue<kGroup, kTf32, kForm>(tmem, job.a | base >> 4, job.b | (base + job.a_bytes) >> 4, job);
    GROUPED(
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                         shared_address(&done))
                     : "memory"),
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster."
                     "b64 [%0], %1;" ::"r"(shared_address(&done)),
                     "h"(static_cast<uint16_t>(3))
                     : "memory"))
  }
  mbarrier::wait(&done, 0);
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int c = 0; c < kColumns; ++c) {
    uint32_t value;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(own + c));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[(rank * 128 + threadIdx.x) * kColumns + c] = value;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if constexpr (kGroup == 2) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  if (threadIdx.x < 32) {
#define FREE(GROUP) asm volatile("tcgen05.dealloc.cta_group::" GROUP ".sync.aligned.b32 %0, 128;" ::"r"(tmem))
    GROUPED(FREE("1"), FREE("2"))
#undef FREE
  }
#undef GROUPED
}

// Rows of 32 bytes: 16-byte columns, one after the other.
uint32_t place(int rows, int row, int byte) {
  return row % 8 * 16 + row / 8 * 128 + byte / 16 * rows * 16 + byte % 16;
}
uint64_t column_descriptor(int rows) { return uint64_t(rows) << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46; }

struct Problem {
  int m, n, depth, group;
  std::vector<double> a, b;
  std::vector<float> got;  // (CTA, lane, column)
  Job job{};

  double product(int i, int j) const {
    double sum = 0;
    for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * b[j * depth + k];
    return sum;
  }
};

// `columns_of_b` may exceed N: further parts for further instructions.
template <int kGroup, bool kTf32, int kForm>
Problem run(bool flag, const std::vector<uint32_t>& mask = {}, int columns_of_b = kN) {
  constexpr int kBytes = kTf32 ? 4 : 2;
  Problem p{128 * kGroup, kN, kRowBytes / kBytes, kGroup, {}, {}, {}};
  p.a.resize(p.m * p.depth);
  p.b.resize(columns_of_b * p.depth);
  for (size_t i = 0; i < p.a.size(); ++i) p.a[i] = static_cast<int>(i * 7 % 11) - 5;
  for (size_t i = 0; i < p.b.size(); ++i) p.b[i] = static_cast<int>(i * 5 % 13) - 6;
  const int b_rows = columns_of_b / kGroup;
  Job& job = p.job;
  job.a_bytes = 128 * kRowBytes;
  job.b_bytes = b_rows * kRowBytes;
  job.a = column_descriptor(128);
  job.b = column_descriptor(b_rows);
  job.flag = flag;
  for (size_t i = 0; i < mask.size(); ++i) job.mask[i] = mask[i];
  job.idesc =
      1u << 4 | (kTf32 ? 2u << 7 | 2u << 10 : 1u << 7 | 1u << 10) | (kN >> 3) << 17 | (p.m >> 4) << 24;
  std::vector<unsigned char> images(kGroup * (job.a_bytes + job.b_bytes));
  const auto put = [&](unsigned char* image, int rows, int row, int k, double value) {
    const float f = static_cast<float>(value);
    std::memcpy(image + place(rows, row, k * kBytes), reinterpret_cast<const char*>(&f) + 4 - kBytes, kBytes);
  };
  for (int r = 0; r < kGroup; ++r) {
    unsigned char* image = images.data() + r * (job.a_bytes + job.b_bytes);
    for (int k = 0; k < p.depth; ++k) {
      for (int i = 0; i < 128; ++i) put(image, 128, i, k, p.a[(r * 128 + i) * p.depth + k]);
      for (int j = 0; j < b_rows; ++j)
        put(image + job.a_bytes, b_rows, j, k, p.b[(r * b_rows + j) * p.depth + k]);
    }
  }
  auto* device = reinterpret_cast<uint4*>(device_copy(images));
  auto* out = device_zeros<uint32_t>(kGroup * 128 * kColumns);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {kGroup, 1, 1};
  cudaLaunchConfig_t config{dim3(kGroup), dim3(128), job.a_bytes + job.b_bytes, nullptr, &attribute, 1};
  REQUIRE_CUDA(cudaLaunchKernelEx(&config, once<kGroup, kTf32, kForm>, job, device, out));
  const auto words = host_copy(out, kGroup * 128 * kColumns);
  p.got.resize(words.size());
  std::memcpy(p.got.data(), words.data(), words.size() * 4);
  return p;
}

// value(row, column) is what each written element must hold; what a mask disables, and every column that no
// accumulator covers, keeps its initial value.
template <typename Value>
int wrong_elements(const char* what, const Problem& p, int covered, Value value) {
  int wrong = 0;
  for (int i = 0; i < p.m; ++i) {
    const bool disabled = p.job.mask[i / 32] >> i % 32 & 1;
    for (int c = 0; c < kColumns; ++c) {
      const double old = initial(i % 128, c);
      wrong += p.got[i * kColumns + c] != (disabled || c >= covered ? old : value(i, c, old));
    }
  }
  if (wrong) std::printf("  %s: %d wrong\n", what, wrong);
  return wrong;
}

int lane_masks() {
  const std::vector<uint32_t> four = {0x00000001, 0xFFFF0000, 0xFFFFFFFF, 0x80000002};
  const std::vector<uint32_t> eight = {0x00000001, 0, 0xF0F0F0F0, 0x80000000,
                                       0x0000FFFF, 0, 0xFFFFFFFF, 0x00000004};
  const auto replaced = [](const Problem& p) {
    return [&p](int i, int j, double) { return p.product(i, j); };
  };
  const auto added = [](const Problem& p) {
    return [&p](int i, int j, double old) { return p.product(i, j) + old; };
  };
  const Problem one = run<1, false, kMask>(false, four);
  const Problem tf32 = run<1, true, kMask>(false, four);
  const Problem sum = run<1, false, kMaskAccumulate>(true, four);
  const Problem pair = run<2, false, kMask>(false, eight);
  const Problem pair_sum = run<2, false, kMaskAccumulate>(true, eight);
  return wrong_elements("four words", one, kN, replaced(one)) +
         wrong_elements("four words, tf32", tf32, kN, replaced(tf32)) +
         wrong_elements("four words, accumulating", sum, kN, added(sum)) +
         wrong_elements("eight words", pair, kN, replaced(pair)) +
         wrong_elements("eight words, accumulating", pair_sum, kN, added(pair_sum));
}

// D = A B + D 2^-shift. Where the last product is below the sum's precision the tensor core truncates, so the
// values are chosen to fit: integers, and an initial D that is a multiple of 4 (kept exact for 2^-15 by f32).
int scaled_accumulators() {
  const auto scaled = [](const Problem& p, int shift) {
    return [&p, shift](int i, int j, double old) { return p.product(i, j) + std::ldexp(old, -shift); };
  };
  const Problem f16_1 = run<1, false, kScale1>(true);
  const Problem f16_3 = run<1, false, kScale3>(true);
  const Problem f16_15 = run<1, false, kScale15>(true);
  const Problem unused = run<1, false, kScale3>(false);
  const std::vector<uint32_t> four = {0, 0xFF00FF00, 0, 1};
  const Problem masked = run<1, false, kScale15Mask>(true, four);
  const Problem tf32_1 = run<1, true, kScale1>(true);
  const Problem tf32_15 = run<1, true, kScale15>(true);
  const Problem pair = run<2, false, kScale3>(true);
  const Problem pair_masked = run<2, false, kScale15Mask>(true, {0, 0, 0, 2, 0, 4, 0, 0});
  return wrong_elements("f16, 2^-1", f16_1, kN, scaled(f16_1, 1)) +
         wrong_elements("f16, 2^-3", f16_3, kN, scaled(f16_3, 3)) +
         wrong_elements("f16, 2^-15", f16_15, kN, scaled(f16_15, 15)) +
         wrong_elements("f16, D not read", unused, kN,
                        [&](int i, int j, double) { return unused.product(i, j); }) +
         wrong_elements("f16, 2^-15 and a mask", masked, kN, scaled(masked, 15)) +
         wrong_elements("tf32, 2^-1", tf32_1, kN, scaled(tf32_1, 1)) +
         wrong_elements("tf32, 2^-15", tf32_15, kN, scaled(tf32_15, 15)) +
         wrong_elements("pair, 2^-3", pair, kN, scaled(pair, 3)) +
         wrong_elements("pair, 2^-15 and a mask", pair_masked, kN, scaled(pair_masked, 15));
}

int collectors() {
  const Problem p = run<1, false, kCollectors>(true, {}, kColumns);
  return wrong_elements("fill, use, lastuse, discard", p, kColumns,
                        [&](int i, int j, double old) { return p.product(i, j) + old; });
}

int enable_input_d() {
  const Problem no = run<1, false, kImmediateFalse>(true);
  const Problem yes = run<1, false, kImmediateTrue>(false);
  const Problem not_true = run<1, false, kNegated>(true);
  const Problem not_false = run<1, false, kNegated>(false);
  const Problem on = run<1, true, kPlain>(true);
  const Problem off = run<1, false, kPlain>(false);
  const auto sum = [](const Problem& p, bool add) {
    return [&p, add](int i, int j, double old) { return p.product(i, j) + (add ? old : 0); };
  };
  return wrong_elements("0", no, kN, sum(no, false)) + wrong_elements("1", yes, kN, sum(yes, true)) +
         wrong_elements("!true", not_true, kN, sum(not_true, false)) +
         wrong_elements("!false", not_false, kN, sum(not_false, true)) +
         wrong_elements("true", on, kN, sum(on, true)) + wrong_elements("false", off, kN, sum(off, false));
}

constexpr Case kCases[] = {{"lane_masks", lane_masks},
                           {"scaled_accumulators", scaled_accumulators},
                           {"collectors", collectors},
                           {"enable_input_d", enable_input_d}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
