// tcgen05.mma.ws: every kind, shape and collector buffer, A in shared and in tensor memory, zero-column masks
// and column shifts, against a host that multiplies small integers. Operands lie in 16-byte columns without
// swizzle (PTX ISA 9.7.16.3); D comes back in layouts D, E and G (9.7.16.10.5).
#include <cmath>

#include "barrier.cuh"
#include "check.h"
#include "open_cta.cuh"

namespace {

constexpr int kRowBytes = 32;     // of an operand, for one instruction
constexpr int kColumnsOfB = 288;  // 256 and the largest shift
constexpr uint32_t kColumnsOfA = 256;

struct Job {
  uint64_t a, b;  // descriptors without their start address
  uint64_t mask;
  uint32_t idesc, a_bytes, b_bytes;
  int copies_of_a;  // in the lanes, when A is in tensor memory
  int n_columns;
};

enum Kind { kF16, kTf32, kF8, kI8 };
enum Form { kPlain, kMask, kCollectors };

#define MMA(A, NAME, TAIL)                                                                                \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %5, 0; tcgen05.mma.ws.cta_group::1.kind::" NAME " [%0], " A \
               ", %3, %4, p" TAIL ";}" ::"r"(d),                                                          \
               "r"(a_tmem), "l"(a), "l"(b), "r"(idesc), "r"(int{accumulate}), "l"(mask)                   \
               : "memory")

template <bool kInTmem, int kKind, int kForm>
__device__ void multiply(uint32_t d, uint32_t a_tmem, uint64_t a, uint64_t b, uint32_t idesc, uint64_t mask,
                         bool accumulate) {
#define FORM(KIND, NAME)                              \
  if constexpr (kKind == KIND && kForm == kPlain) {   \
    if constexpr (kInTmem) MMA("[%1]", NAME, "");     \
    if constexpr (!kInTmem) MMA("%2", NAME, "");      \
  }                                                   \
  if constexpr (kKind == KIND && kForm == kMask) {    \
    if constexpr (kInTmem) MMA("[%1]", NAME, ", %6"); \
    if constexpr (!kInTmem) MMA("%2", NAME, ", %6");  \
  }
  FORM(kF16, "f16")
  FORM(kTf32, "tf32")
  FORM(kF8, "f8f6f4")
  FORM(kI8, "i8")
#undef FORM
  if constexpr (kForm == kCollectors && kKind == kF16) {
    // D, 2 D, ... 16 D: each buffer is filled, used, used for the last time and discarded.
#define BUFFER(NAME)                                 \
  MMA("%2", "f16.collector::" NAME "::fill", "");    \
  accumulate = true;                                 \
  MMA("%2", "f16.collector::" NAME "::use", "");     \
  MMA("%2", "f16.collector::" NAME "::lastuse", ""); \
  MMA("%2", "f16.collector::" NAME "::discard", "");
    BUFFER("b0")
    BUFFER("b1")
    BUFFER("b2")
    BUFFER("b3")
#undef BUFFER
  }
}
#undef MMA

template <bool kInTmem, int kKind, int kForm>
__global__ void __launch_bounds__(128) product(Job job, const uint4* images, uint32_t* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ uint64_t done;
  __shared__ uint32_t tmem;
  for (uint32_t i = threadIdx.x; i < (job.a_bytes + job.b_bytes) / 16; i += 128)
    reinterpret_cast<uint4*>(memory)[i] = images[i];
  fence_proxy_async_shared();
  open_cta<1, 512>(&done, &tmem);
  const uint32_t own = tmem + (threadIdx.x / 32 * 32 << 16);
  if constexpr (kInTmem) {
    const int rows = 128 / job.copies_of_a;
    const int row = threadIdx.x % rows;
    for (int c = 0; c < kRowBytes / 4; ++c) {
      const uint32_t at = row % 8 * 16 + row / 8 * 128 + c / 4 * rows * 16 + c % 4 * 4;
      asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(own + kColumnsOfA + c),
                   "r"(*reinterpret_cast<const uint32_t*>(memory + at)));
    }
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (threadIdx.x == 0) {
    const uint32_t base = shared_address(memory);
    multiply<kInTmem, kKind, kForm>(tmem, tmem + kColumnsOfA, job.a | base >> 4,
                                    job.b | (base + job.a_bytes) >> 4, job.idesc, job.mask, false);
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                     shared_address(&done))
                 : "memory");
  }
  mbarrier::wait(&done, 0);
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int c = 0; c < job.n_columns; ++c) {
    uint32_t value;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(own + c));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[threadIdx.x * 256 + c] = value;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" ::"r"(tmem));
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
  // e4m3 from f32: three fraction bits, bias 7 instead of 127.
  return value == 0 ? 0 : (bits >> 31) << 7 | ((bits >> 20 & 0x7FF) - (120 << 3));
}

struct Mask {
  int start[4], first[4], zeros, used, shift;
  uint64_t bits() const {
    uint64_t word = 1ull << 39 | uint64_t(zeros - 1) << 40 | uint64_t(used - 1) << 48 | uint64_t(shift) << 56;
    for (int i = 0; i < 4; ++i) word |= uint64_t(start[i]) << 8 * i | uint64_t(first[i]) << (32 + i);
    return word;
  }
  // Whether column `c` of sub-mask `part` is zero: a periodic pattern, entered `start` columns after its
  // begin.
  bool is_zero(int part, int c) const {
    const int at = (c + start[part]) % (zeros + used);
    return first[part] ? at < zeros : at >= used;
  }
};

template <bool kInTmem, int kKind, int kForm>
int multiply_once(int m, int n, const Mask* mask = nullptr, bool n_major = false) {
  constexpr int kSize = kBytes[kKind], kDepth = kRowBytes / kSize;
  const auto a = [](int i, int k) { return (i * 5 + k * 3) % 9 - 4; };
  const auto b = [](int j, int k) { return (j * 7 + k) % 11 - 5; };
  Job job{};
  job.a_bytes = m * kRowBytes;
  job.b_bytes = kColumnsOfB * kRowBytes;
  job.a = uint64_t(m) << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46;
  // N-major without swizzle: 8 rows of k lie 16 bytes apart, then 16-byte groups of columns follow.
  const int groups = kColumnsOfB * kSize / 16;
  job.b = n_major ? uint64_t(groups * 128 >> 4) << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46
                  : uint64_t(kColumnsOfB) << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46;
  job.copies_of_a = 128 / m;
  job.n_columns = n * m / 128;
  job.mask = mask ? mask->bits() : 0;
  const uint32_t shift_code = !mask || mask->shift == 0 ? 0
                              : mask->shift <= 8        ? 1
                              : mask->shift <= 16       ? 2
                                                        : 3;
  job.idesc = kTypes[kKind] | uint32_t{n_major} << 16 | static_cast<uint32_t>(n >> 3) << 17 |
              static_cast<uint32_t>(m >> 4) << 24 | shift_code << 30;
  std::vector<unsigned char> images(job.a_bytes + job.b_bytes);
  const auto put = [&](size_t start, int rows, int row, int k, int value) {
    const int byte = k * kSize;
    const uint32_t word = encode(kKind, value);
    std::memcpy(&images[start + row % 8 * 16 + row / 8 * 128 + byte / 16 * rows * 16 + byte % 16], &word,
                kSize);
  };
  for (int k = 0; k < kDepth; ++k) {
    for (int i = 0; i < m; ++i) put(0, m, i, k, a(i, k));
    for (int j = 0; j < kColumnsOfB; ++j) {
      if (!n_major) {
        put(job.a_bytes, kColumnsOfB, j, k, b(j, k));
      } else {
        const uint32_t word = encode(kKind, b(j, k));
        const int byte = j * kSize;
        std::memcpy(&images[job.a_bytes + byte % 16 + byte / 16 * 128 + k % 8 * 16 + k / 8 * groups * 128],
                    &word, kSize);
      }
    }
  }
  auto* device = reinterpret_cast<uint4*>(device_copy(images));
  uint32_t* out = device_zeros<uint32_t>(128 * 256);
  product<kInTmem, kKind, kForm><<<1, 128, job.a_bytes + job.b_bytes>>>(job, device, out);
  const auto got = host_copy(out, 128 * 256);
  REQUIRE_CUDA(cudaFree(out));
  REQUIRE_CUDA(cudaFree(device));
  int wrong = 0;
  const int width = job.n_columns;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      const int part = j / width;
      int want = 0;
      for (int k = 0; k < kDepth; ++k) want += a(i, k) * b(j + (mask ? mask->shift : 0), k);
      if (mask && mask->is_zero(part, j % width)) want = 0;
      if (kForm == kCollectors) want *= 16;
      const uint32_t bits = got[(i + part * m) * 256 + j % width];
      float value;
      std::memcpy(&value, &bits, 4);
      wrong += kKind == kI8 ? static_cast<int>(bits) != want : value != static_cast<float>(want);
    }
  }
  if (wrong)
    std::printf("  kind %d form %d, A in %s, %dx%d: %d wrong\n", kKind, kForm, kInTmem ? "tmem" : "smem", m,
                n, wrong);
  return wrong;
}

template <int kKind>
int kind() {
  int wrong = 0;
  for (int m : {32, 64, 128})
    for (int n : {64, 128, 256})
      wrong += multiply_once<false, kKind, kPlain>(m, n) + multiply_once<true, kKind, kPlain>(m, n);
  return wrong;
}

int kinds() { return kind<kF16>() + kind<kTf32>() + kind<kF8>() + kind<kI8>(); }

int collectors() {
  return multiply_once<false, kF16, kCollectors>(32, 128) + multiply_once<false, kF16, kCollectors>(128, 64);
}

int masks() {
  constexpr Mask kMasks[] = {{{0, 0, 0, 0}, {0, 0, 0, 0}, 3, 4, 0},
                             {{0, 1, 2, 1}, {1, 1, 0, 0}, 3, 4, 2},
                             {{2, 0, 1, 0}, {0, 1, 0, 1}, 7, 5, 16},
                             {{4, 6, 0, 3}, {0, 0, 0, 0}, 1, 13, 7},
                             {{0, 0, 0, 0}, {1, 1, 1, 1}, 255, 1, 0}};
  int wrong = 0;
  for (const Mask& mask : kMasks) {
    for (int m : {32, 64, 128}) {
      wrong +=
          multiply_once<false, kF16, kMask>(m, 128, &mask) + multiply_once<true, kF16, kMask>(m, 256, &mask);
      wrong +=
          multiply_once<false, kI8, kMask>(m, 64, &mask) + multiply_once<false, kTf32, kMask>(m, 64, &mask);
      wrong += multiply_once<false, kF16, kMask>(m, 64, &mask, true) +
               multiply_once<true, kI8, kMask>(m, 64, &mask, true);
    }
  }
  return wrong;
}

constexpr Case kCases[] = {{"kinds", kinds}, {"collectors", collectors}, {"masks", masks}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
