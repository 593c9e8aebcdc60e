// tcgen05.mma.sp against the dense product on the host, which compresses A and places its metadata (PTX ISA
// 9.7.16.10.8): every kind, one CTA and pairs, weight stationary, with a lane mask and a scaled accumulator.
#include <cmath>

#include "barrier.cuh"
#include "check.h"
#include "open_cta.cuh"

namespace {

constexpr int kStoredBytes = 32;  // of a row of A, for one instruction; B has twice that
constexpr uint32_t kColumnsOfA = 256, kMetadata = 264;

struct Job {
  uint64_t a, b;  // descriptors without their start address
  uint32_t idesc, a_bytes, b_bytes;
  int n_columns;
};

enum Kind { kF16, kTf32, kF8, kI8 };
enum Form { kPlain, kMaskScale, kStationary };

#define MMA(TEXT, A, TAIL)                                                                                 \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %5, 0; tcgen05.mma" TEXT " [%0], " A ", %3, [%6], %4, " TAIL \
               ";}" ::"r"(d),                                                                              \
               "r"(tmem + kColumnsOfA), "l"(a), "l"(b), "r"(idesc), "r"(int{accumulate}),                  \
               "r"(tmem + kMetadata), "r"(0), "r"(0xFFFF0000)                                              \
               : "memory")

template <int kGroup, int kKind, bool kInTmem, int kForm>
__device__ void multiply(uint32_t tmem, uint64_t a, uint64_t b, uint32_t idesc, bool accumulate) {
  const uint32_t d = tmem;
#define FORM(GROUP, FORM_OF, KIND, TEXT, TAIL)                                     \
  if constexpr (kGroup == GROUP && kForm == FORM_OF && kKind == KIND && kInTmem) { \
    MMA(TEXT, "[%1]", TAIL);                                                       \
  } else if constexpr (kGroup == GROUP && kForm == FORM_OF && kKind == KIND) {     \
    MMA(TEXT, "%2", TAIL);                                                         \
  }
  FORM(1, kPlain, kF16, ".sp.cta_group::1.kind::f16", "p")
  FORM(1, kPlain, kTf32, ".sp.cta_group::1.kind::tf32", "p")
  FORM(1, kPlain, kF8, ".sp.cta_group::1.kind::f8f6f4.collector::a::discard", "p")
  FORM(1, kPlain, kI8, ".sp.cta_group::1.kind::i8", "p")
  FORM(2, kPlain, kF16, ".sp.cta_group::2.kind::f16", "p")
  FORM(2, kPlain, kTf32, ".sp.cta_group::2.kind::tf32", "p")
  FORM(2, kPlain, kF8, ".sp.cta_group::2.kind::f8f6f4", "p")
  FORM(2, kPlain, kI8, ".sp.cta_group::2.kind::i8", "p")
  FORM(1, kMaskScale, kF16, ".sp.cta_group::1.kind::f16", "{%7, %8, %7, %8}, p, 1")
  FORM(1, kStationary, kF16, ".ws.sp.cta_group::1.kind::f16.collector::b1::fill", "p")
  FORM(1, kStationary, kI8, ".ws.sp.cta_group::1.kind::i8", "p")
#undef FORM
}
#undef MMA

// `lanes`: for each CTA 128 x 10 words of tensor memory, eight of A and two of metadata. `out`: 128 lanes x
// 256 columns for each. With kMaskScale the product is accumulated once more.
template <int kGroup, int kKind, bool kInTmem, int kForm>
__global__ void __launch_bounds__(128)
    product(Job job, const uint4* images, const uint32_t* lanes, uint32_t* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ uint64_t done;
  __shared__ uint32_t tmem;
  uint32_t rank = 0;
  if constexpr (kGroup == 2) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const uint32_t total = (job.a_bytes + job.b_bytes) / 16;
  for (uint32_t i = threadIdx.x; i < total; i += 128)
    reinterpret_cast<uint4*>(memory)[i] = images[rank * total + i];
  fence_proxy_async_shared();
  open_cta<kGroup, 512>(&done, &tmem);
  const uint32_t own = tmem + (threadIdx.x / 32 * 32 << 16);
  for (int c = 0; c < 10; ++c)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(own + kColumnsOfA + c),
                 "r"(lanes[(rank * 128 + threadIdx.x) * 10 + c]));
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if constexpr (kGroup == 2) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (threadIdx.x == 0 && rank == 0) {
    const uint64_t a = job.a | shared_address(memory) >> 4;
    const uint64_t b = job.b | (shared_address(memory) + job.a_bytes) >> 4;
    if constexpr (kForm == kMaskScale) multiply<kGroup, kKind, kInTmem, kPlain>(tmem, a, b, job.idesc, false);
    multiply<kGroup, kKind, kInTmem, kForm>(tmem, a, b, job.idesc, kForm == kMaskScale);
    if constexpr (kGroup == 1) {
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                       shared_address(&done))
                   : "memory");
    } else {
      asm volatile(
          "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], "
          "%1;" ::"r"(shared_address(&done)),
          "h"(static_cast<uint16_t>(3))
          : "memory");
    }
  }
  mbarrier::wait(&done, 0);
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int c = 0; c < job.n_columns; ++c) {
    uint32_t value;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(own + c));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[(rank * 128 + threadIdx.x) * 256 + c] = value;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if constexpr (kGroup == 2) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  if (threadIdx.x < 32) {
    if constexpr (kGroup == 1)
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" ::"r"(tmem));
    else
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 512;" ::"r"(tmem));
  }
}

// Small integers in each type: bf16, tf32, e4m3, s8.
constexpr int kBytes[] = {2, 4, 1, 1};
constexpr uint32_t kTypes[] = {1u << 4 | 1u << 7 | 1u << 10, 1u << 4 | 2u << 7 | 2u << 10, 1u << 4,
                               2u << 4 | 1u << 7 | 1u << 10};

uint32_t encode(int kind, int value) {
  const float f = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  if (kind == kF16) return bits >> 16;
  if (kind == kTf32) return bits;
  if (kind == kI8) return static_cast<uint8_t>(value);
  return value == 0 ? 0 : (bits >> 31) << 7 | ((bits >> 20 & 0x7FF) - (120 << 3));  // e4m3
}

uint32_t next_random() {
  static uint32_t state = 99;
  state = state * 1664525 + 1013904223;
  return state >> 8;
}

template <int kGroup, int kKind, bool kInTmem, int kForm>
int multiply_once(int m, int n) {
  constexpr int kSize = kBytes[kKind], kStored = kStoredBytes / kSize, kDepth = 2 * kStored;
  constexpr bool kPairs = kKind == kTf32, kWide = kSize > 1;  // codes of two elements; eight codes a row
  const int m_cta = m / kGroup, n_cta = n / kGroup;
  const bool half = m_cta == 64 && kForm != kStationary;  // D in half the lanes
  const int copies = kForm == kStationary ? 128 / m : 1;
  const auto lane_of = [&](int i, int copy) { return half ? i % 16 + i / 16 * 32 : i + copy * m_cta; };
  std::vector<int> a(m * kDepth), b(n * kDepth);
  for (int& value : b) value = static_cast<int>(next_random() % 7) - 3;
  Job job{};
  job.a_bytes = m_cta * kStoredBytes;
  job.b_bytes = n_cta * 2 * kStoredBytes;
  job.a = uint64_t(m_cta) << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46;
  job.b = uint64_t(n_cta) << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46;
  job.n_columns = n / copies;
  const uint32_t selector = kWide && n % 64 == 0 ? 1 : 0;
  job.idesc = kTypes[kKind] | 4u | selector | static_cast<uint32_t>(n >> 3) << 17 |
              static_cast<uint32_t>(m >> 4) << 24;
  std::vector<unsigned char> images(kGroup * (job.a_bytes + job.b_bytes));
  std::vector<uint32_t> lanes(kGroup * 128 * 10);
  const auto put = [&](size_t start, int rows, int row, int k, int value) {
    const int byte = k * kSize;
    const uint32_t word = encode(kKind, value);
    std::memcpy(&images[start + row % 8 * 16 + row / 8 * 128 + byte / 16 * rows * 16 + byte % 16], &word,
                kSize);
  };
  // One stored element of row i, for position `at` of the dense row.
  const auto store = [&](int i, int stored, int at) {
    const int value = static_cast<int>(next_random() % 4 + 1) * (next_random() % 2 ? 1 : -1);
    a[i * kDepth + at] = value;
    const int cta = i / m_cta, row = i % m_cta;
    put(cta * (job.a_bytes + job.b_bytes), m_cta, row, stored, value);
    for (int copy = 0; copy < copies; ++copy) {
      auto* bytes = reinterpret_cast<unsigned char*>(&lanes[(cta * 128 + lane_of(row, copy)) * 10]);
      const uint32_t word = encode(kKind, value);
      std::memcpy(bytes + stored * kSize, &word, kSize);
    }
  };
  const auto store_code = [&](int i, int chunk, uint32_t code) {
    const int cta = i / m_cta, row = i % m_cta;
    for (int copy = 0; copy < copies; ++copy) {
      // Of 16 rows, row r and r + 8 share a lane when a row has eight codes.
      const int lane = kWide ? lane_of(row - row % 16, copy) + row % 8 + chunk / 4 * 8 : lane_of(row, copy);
      const int word = kWide ? static_cast<int>(selector) : chunk / 8;
      const int nibble = kWide ? row % 16 / 8 * 4 + chunk % 4 : chunk % 8;
      lanes[(cta * 128 + lane) * 10 + 8 + word] |= code << 4 * nibble;
    }
  };
  constexpr int kPositions[7][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 1}, {2, 3}};
  for (int i = 0; i < m; ++i) {
    for (int chunk = 0; chunk < (kPairs ? kDepth / 2 : kDepth / 4); ++chunk) {
      if constexpr (kPairs) {
        const int upper = static_cast<int>(next_random() % 2);
        store(i, chunk, 2 * chunk + upper);
        store_code(i, chunk, upper ? 0b1110 : 0b0100);
      } else {
        const auto& positions = kPositions[next_random() % 7];
        store(i, 2 * chunk, 4 * chunk + positions[0]);
        store(i, 2 * chunk + 1, 4 * chunk + positions[1]);
        store_code(i, chunk, positions[0] | positions[1] << 2);
      }
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < kDepth; ++k)
      put(j / n_cta * (job.a_bytes + job.b_bytes) + job.a_bytes, n_cta, j % n_cta, k, b[j * kDepth + k]);
  }
  auto* device = reinterpret_cast<uint4*>(device_copy(images));
  uint32_t *in_lanes = device_copy(lanes), *out = device_zeros<uint32_t>(2 * 128 * 256);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {kGroup, 1, 1};
  cudaLaunchConfig_t config{dim3(kGroup), dim3(128), job.a_bytes + job.b_bytes, nullptr, &attribute, 1};
  REQUIRE_CUDA(
      cudaLaunchKernelEx(&config, product<kGroup, kKind, kInTmem, kForm>, job, device, in_lanes, out));
  const auto got = host_copy(out, 2 * 128 * 256);
  int wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int k = 0; k < kDepth; ++k) want += a[i * kDepth + k] * b[j * kDepth + k];
      if (kForm == kMaskScale && i % 64 < 48) want *= 1.5;  // lanes 48 to 63 and 112 to 127 are disabled
      const uint32_t bits =
          got[(i / m_cta * 128 + lane_of(i % m_cta, j / job.n_columns)) * 256 + j % job.n_columns];
      float value;
      std::memcpy(&value, &bits, 4);
      wrong += kKind == kI8 ? static_cast<int>(bits) != want : value != want;
    }
  }
  if (wrong)
    std::printf("  kind %d form %d, cta_group::%d, A in %s, %dx%d: %d wrong\n", kKind, kForm, kGroup,
                kInTmem ? "tmem" : "smem", m, n, wrong);
  return wrong;
}

template <int kKind>
int kind() {
  int wrong = 0;
  for (int n : {32, 64, 256}) {
    for (int m : {64, 128})
      wrong += multiply_once<1, kKind, false, kPlain>(m, n) + multiply_once<1, kKind, true, kPlain>(m, n);
    for (int m : {128, 256})
      wrong += multiply_once<2, kKind, false, kPlain>(m, n) + multiply_once<2, kKind, true, kPlain>(m, n);
  }
  return wrong;
}

int kinds() { return kind<kF16>() + kind<kTf32>() + kind<kF8>() + kind<kI8>(); }

int mask_and_scale() {
  return multiply_once<1, kF16, false, kMaskScale>(128, 64) +
         multiply_once<1, kF16, true, kMaskScale>(128, 32);
}

int stationary() {
  int wrong = 0;
  for (int m : {32, 64, 128}) {
    for (int n : {64, 128}) {
      wrong +=
          multiply_once<1, kF16, false, kStationary>(m, n) + multiply_once<1, kF16, true, kStationary>(m, n);
      wrong +=
          multiply_once<1, kI8, false, kStationary>(m, n) + multiply_once<1, kI8, true, kStationary>(m, n);
    }
  }
  return wrong;
}

constexpr Case kCases[] = {{"kinds", kinds}, {"mask_and_scale", mask_and_scale}, {"stationary", stationary}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
