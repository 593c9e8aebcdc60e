// The block-scaled kinds of tcgen05.mma in every spelling, element type, scale type, shape and CTA group,
// with A in shared and in tensor memory, against a host that packs the operands by the manual's figures,
// places scale factors by PTX ISA 9.7.16.10.7 and multiplies in double. Values are chosen so that every sum
// is exact.
#include <cmath>

#include "barrier.cuh"
#include "check.h"
#include "open_cta.cuh"

namespace {

constexpr int kSteps = 4;      // instructions of one product, along K
constexpr int kRowBytes = 32;  // of an operand, for one of them
constexpr uint32_t kScaleColumns = 256, kScalesOfB = 320, kColumnsOfA = 448;

enum Form {  // qualifiers after .kind
  kMx8,
  kMx8Block32,
  kMx8Vector,
  kMx4,
  kMx4Block32,
  kMx4Vector,
  kNv4Block16,
  kNv4Block32,
  kNv4Vector2,
  kNv4Vector4
};

struct Job {
  uint64_t a, b;  // descriptors without their start address
  uint32_t a_bytes, b_bytes, scale_bytes;
  uint32_t idesc[kSteps];
  uint32_t scale_a[kSteps], scale_b[kSteps];  // columns, from where each operand's factors begin
  int groups;                                 // of four factors, each with columns of its own
  int tiles_of_b;                             // of 128 columns of B
  int format;                                 // of A's elements on their way to tensor memory: 8, 6 or 4 bits
  int n_columns;
  bool split_b;   // B's factors differ between the lower and the upper lanes
  bool double_a;  // 64 rows of A, wanted in both halves of the lanes
  bool one_copy;  // factors in lanes 0 to 31 only
};

template <int kGroup, bool kInTmem, int kForm>
__device__ void multiply(uint32_t d, uint32_t a_tmem, uint64_t a, uint64_t b, uint32_t idesc, uint32_t sfa,
                         uint32_t sfb, bool accumulate) {
#define MMA(GROUP, A, NAME)                                                                        \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %7, 0; tcgen05.mma.cta_group::" GROUP ".kind::" NAME \
               " [%0], " A ", %3, %4, [%5], [%6], p;}" ::"r"(d),                                   \
               "r"(a_tmem), "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(int{accumulate})   \
               : "memory")
#define FORM(NUMBER, NAME)                                        \
  if constexpr (kForm == NUMBER) {                                \
    if constexpr (kGroup == 1 && !kInTmem) MMA("1", "%2", NAME);  \
    if constexpr (kGroup == 1 && kInTmem) MMA("1", "[%1]", NAME); \
    if constexpr (kGroup == 2 && !kInTmem) MMA("2", "%2", NAME);  \
    if constexpr (kGroup == 2 && kInTmem) MMA("2", "[%1]", NAME); \
  }
  FORM(kMx8, "mxf8f6f4.block_scale")
  FORM(kMx8Block32, "mxf8f6f4.block_scale.block32")
  FORM(kMx8Vector, "mxf8f6f4.block_scale.scale_vec::1X.collector::a::discard")
  FORM(kMx4, "mxf4.block_scale")
  FORM(kMx4Block32, "mxf4.block_scale.block32")
  FORM(kMx4Vector, "mxf4.block_scale.scale_vec::2X")
  FORM(kNv4Block16, "mxf4nvf4.block_scale.block16")
  FORM(kNv4Block32, "mxf4nvf4.block_scale.block32")
  FORM(kNv4Vector2, "mxf4nvf4.block_scale.scale_vec::2X")
  FORM(kNv4Vector4, "mxf4nvf4.block_scale.scale_vec::4X.collector::a::fill")
#undef FORM
#undef MMA
}

#define COPY(SHAPE, TO, FROM)                                                                    \
  if constexpr (kGroup == 1) {                                                                   \
    asm volatile("tcgen05.cp.cta_group::1." SHAPE " [%0], %1;" ::"r"(TO), "l"(FROM) : "memory"); \
  } else {                                                                                       \
    asm volatile("tcgen05.cp.cta_group::2." SHAPE " [%0], %1;" ::"r"(TO), "l"(FROM) : "memory"); \
  }

// A of one step, `from` describing its 32-byte rows of 16-byte columns `column` bytes apart.
template <int kGroup>
__device__ void copy_a(const Job& job, uint32_t to, uint64_t from, uint32_t column) {
  if (job.double_a) {
    for (int half = 0; half < 2; ++half, to += 4, from += column >> 4) {
      if (job.format == 8) COPY("64x128b.warpx2::02_13", to, from)
      if (job.format == 6) COPY("64x128b.warpx2::02_13.b8x16.b6x16_p32", to, from)
      if (job.format == 4) COPY("64x128b.warpx2::02_13.b8x16.b4x16_p64", to, from)
    }
  } else {
    if (job.format == 8) COPY("128x256b", to, from)
    if (job.format == 6) COPY("128x256b.b8x16.b6x16_p32", to, from)
    if (job.format == 4) COPY("128x256b.b8x16.b4x16_p64", to, from)
  }
}

// Rows of 16 bytes without swizzle; only one 16-byte column.
__device__ uint64_t row_descriptor(uint32_t start) {
  return start >> 4 | uint64_t{128 >> 4} << 32 | 1ull << 46;
}

template <int kGroup>
__device__ void copy_scales(const Job& job, uint32_t tmem, uint32_t scales) {
  for (int g = 0; g < job.groups; ++g) {
    COPY("32x128b.warpx4", tmem + kScaleColumns + 4 * g, row_descriptor(scales))
    scales += 512;
  }
  for (int g = 0; g < job.groups * job.tiles_of_b; ++g) {
    if (job.split_b) {
      COPY("64x128b.warpx2::01_23", tmem + kScalesOfB + 4 * g, row_descriptor(scales))
      scales += 1024;
    } else {
      COPY("32x128b.warpx4", tmem + kScalesOfB + 4 * g, row_descriptor(scales))
      scales += 512;
    }
  }
}

__device__ void store_one_copy(const Job& job, uint32_t tmem, const uint32_t* scales) {
  for (int g = 0; g < job.groups * (1 + job.tiles_of_b); ++g) {
    const uint32_t to = g < job.groups ? kScaleColumns + 4 * g : kScalesOfB + 4 * (g - job.groups);
    const uint32_t* row = scales + g * 128 + threadIdx.x * 4;
    asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1, %2, %3, %4};" ::"r"(tmem + to),
                 "r"(row[0]), "r"(row[1]), "r"(row[2]), "r"(row[3]));
  }
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

template <int kGroup>
__device__ void cluster_barrier() {
  if constexpr (kGroup == 2) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
}

// `out`: 128 lanes x 256 columns for each CTA.
template <int kGroup, bool kInTmem, int kForm>
__global__ void __launch_bounds__(128) product(Job job, const uint4* images, uint32_t* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ uint64_t done;
  __shared__ uint32_t tmem;
  uint32_t rank = 0;
  if constexpr (kGroup == 2) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const uint32_t total = (job.a_bytes + job.b_bytes + job.scale_bytes) / 16;
  for (uint32_t i = threadIdx.x; i < total; i += 128)
    reinterpret_cast<uint4*>(memory)[i] = images[rank * total + i];
  fence_proxy_async_shared();
  open_cta<kGroup, 512>(&done, &tmem);
  const uint32_t base = shared_address(memory);
  const uint32_t scales = job.a_bytes + job.b_bytes;
  if (job.one_copy && threadIdx.x < 32)
    store_one_copy(job, tmem, reinterpret_cast<const uint32_t*>(memory + scales));
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  cluster_barrier<kGroup>();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (threadIdx.x == 0 && rank == 0) {
    if (!job.one_copy) copy_scales<kGroup>(job, tmem, base + scales);
    for (int k = 0; k < kSteps; ++k) {
      const uint32_t column = job.a_bytes / (2 * kSteps);
      const uint64_t a = job.a | (base + k * 2 * column) >> 4;
      const uint32_t a_tmem = tmem + kColumnsOfA + 8 * k;
      if constexpr (kInTmem) copy_a<kGroup>(job, a_tmem, a, column);
      multiply<kGroup, kInTmem, kForm>(tmem, a_tmem, a, job.b | (base + job.a_bytes + k * kRowBytes) >> 4,
                                       job.idesc[k], tmem + kScaleColumns + job.scale_a[k],
                                       tmem + kScalesOfB + job.scale_b[k], k > 0);
    }
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
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];"
                 : "=r"(value)
                 : "r"(tmem + (threadIdx.x / 32 * 32 << 16) + c));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[(rank * 128 + threadIdx.x) * 256 + c] = value;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  cluster_barrier<kGroup>();
  if (threadIdx.x < 32) {
    if constexpr (kGroup == 1)
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" ::"r"(tmem));
    else
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 512;" ::"r"(tmem));
  }
}

// ---- the host's own idea of all this

struct Element {
  const char* name;
  int exponent_bits, fraction_bits;
  uint32_t code;  // in the instruction descriptor of kind mxf8f6f4
  int bits() const { return 1 + exponent_bits + fraction_bits; }
};
constexpr Element kE4M3{"e4m3", 4, 3, 0}, kE5M2{"e5m2", 5, 2, 1}, kE2M3{"e2m3", 2, 3, 3},
    kE3M2{"e3m2", 3, 2, 4}, kE2M1{"e2m1", 2, 1, 5};

double value_of(const Element& type, uint32_t code) {
  const int field = code >> type.fraction_bits & ((1 << type.exponent_bits) - 1);
  const double fraction =
      static_cast<double>(code & ((1u << type.fraction_bits) - 1)) / (1 << type.fraction_bits);
  const int bias = (1 << (type.exponent_bits - 1)) - 1;
  const double magnitude = field ? std::ldexp(1 + fraction, field - bias) : std::ldexp(fraction, 1 - bias);
  return code >> (type.bits() - 1) ? -magnitude : magnitude;
}

uint32_t code_of(const Element& type, double value) {
  for (uint32_t code = 0; code < 1u << type.bits(); ++code)
    if (value_of(type, code) == value) return code;
  std::printf("%s has no %f\n", type.name, value);
  std::exit(1);
}

struct Format {
  int form;
  Element a, b;
  bool packed;  // kinds mxf4: two elements to a byte
  int blocks;   // scale factors of a row, for one instruction
  bool ue4m3;
};

uint32_t next_random() {
  static uint32_t state = 12345;
  state = state * 1664525 + 1013904223;
  return state >> 8;
}

// A matrix with its factors, row by row.
struct Operand {
  int rows, depth, factors;
  std::vector<uint32_t> codes;
  std::vector<double> values;
  std::vector<uint8_t> scales;
  std::vector<double> scale_values;

  // Element times factor, all of them.
  std::vector<double> scaled() const {
    std::vector<double> result(values.size());
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < depth; ++k)
        result[row * depth + k] =
            values[row * depth + k] * scale_values[row * factors + k / (depth / factors)];
    }
    return result;
  }
};

Operand make_operand(const Element& type, int rows, int depth, int factors, bool ue4m3) {
  constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, -0.5, -1, -1.5, -2, -3};
  Operand o{rows, depth, factors, {}, {}, {}, {}};
  for (int i = 0; i < rows * depth; ++i) {
    o.values.push_back(kValues[next_random() % 11]);
    o.codes.push_back(code_of(type, o.values.back()));
  }
  for (int i = 0; i < rows * factors; ++i) {
    if (ue4m3) {
      constexpr double kFactors[] = {0.5, 0.625, 0.75, 1, 1.25, 1.5, 2, 2.5};
      o.scale_values.push_back(kFactors[next_random() % 8]);
      o.scales.push_back(static_cast<uint8_t>(code_of(kE4M3, o.scale_values.back())));
    } else {
      const int exponent = static_cast<int>(next_random() % 3) - 1;
      o.scale_values.push_back(std::ldexp(1, exponent));
      o.scales.push_back(static_cast<uint8_t>(127 + exponent));
    }
  }
  return o;
}

// The 32 bytes of a row that one instruction reads: packed whole, or each 16 elements at the start of 16
// bytes.
void pack_row(const Format& f, const Element& type, const uint32_t* codes, unsigned char* bytes) {
  const int bits = type.bits();
  for (int i = 0; i < (f.packed ? 64 : 32); ++i) {
    const int at = f.packed ? i * 4 : i / 16 * 128 + i % 16 * bits;
    for (int b = 0; b < bits; ++b) {
      if (codes[i] >> b & 1) bytes[(at + b) / 8] |= 1 << (at + b) % 8;
    }
  }
}

// A: without swizzle, the 16-byte columns of all steps one after the other. B: 128-byte rows, swizzled.
uint32_t place_a(int rows, int row, int byte) {
  return row % 8 * 16 + row / 8 * 128 + byte / 16 * rows * 16 + byte % 16;
}
uint32_t place_b(int row, int byte) { return row * 128 + (byte ^ row % 8 * 16); }

// Scale word of `row` for each group of four factors: row % 32 picks the 16-byte row, row / 32 the word in
// it, and 128 rows fill a tile. Tiles of one group lie together.
void put_scales(std::vector<unsigned char>& image, size_t start, const Operand& o, int row, int slot,
                int tile_rows, int tiles) {
  for (int factor = 0; factor < o.factors; ++factor) {
    const int group = factor / 4;
    const size_t tile = start + (group * tiles + slot / 128) * tile_rows * 16;
    image[tile + slot % 32 * 16 + slot % 128 / 32 * 4 + factor % 4] = o.scales[row * o.factors + factor];
  }
}

template <int kGroup, bool kInTmem, int kForm>
std::vector<uint32_t> launch(const Job& job, const std::vector<unsigned char>& images) {
  auto* device = reinterpret_cast<uint4*>(device_copy(images));
  uint32_t* out = device_zeros<uint32_t>(2 * 128 * 256);
  const size_t bytes = job.a_bytes + job.b_bytes + job.scale_bytes;
  REQUIRE_CUDA(cudaFuncSetAttribute(product<kGroup, kInTmem, kForm>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {kGroup, 1, 1};
  cudaLaunchConfig_t config{dim3(kGroup), dim3(128), bytes, nullptr, &attribute, 1};
  REQUIRE_CUDA(cudaLaunchKernelEx(&config, product<kGroup, kInTmem, kForm>, job, device, out));
  const auto got = host_copy(out, 2 * 128 * 256);
  REQUIRE_CUDA(cudaFree(out));
  REQUIRE_CUDA(cudaFree(device));
  return got;
}

uint32_t instruction_descriptor(const Format& f, int m, int n, int id) {
  const uint32_t types = f.packed ? 1u << 7 | 1u << 10 : f.a.code << 7 | f.b.code << 10;
  return types | static_cast<uint32_t>(id) << 4 | static_cast<uint32_t>(id) << 29 |
         static_cast<uint32_t>(n >> 3) << 17 | (f.ue4m3 ? 0u : 1u << 23) |
         static_cast<uint32_t>(m >> 7) << 27;
}

template <int kGroup, bool kInTmem, int kForm>
int multiply_once(const Format& f, int m, int n, bool one_copy = false) {
  const int depth = kSteps * (f.packed ? 64 : 32), factors = kSteps * f.blocks;
  const Operand a = make_operand(f.a, m, depth, factors, f.ue4m3);
  const Operand b = make_operand(f.b, n, depth, factors, f.ue4m3);
  const bool halves = kGroup == 2 && m == 128;
  const int m_cta = m / kGroup, n_cta = n / kGroup;
  Job job{};
  job.a = uint64_t(m_cta) << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46;
  job.b = uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | 1ull << 46 | 2ull << 61;
  job.a_bytes = m_cta * kSteps * kRowBytes;
  job.b_bytes = (n_cta * 128 + 1023) / 1024 * 1024;
  job.groups = factors / 4;
  const int b_slots = halves ? n / 2 : n;  // rows of B's factors below each other
  job.tiles_of_b = (b_slots + 127) / 128;
  job.scale_bytes = job.groups * 512 * (1 + job.tiles_of_b * (halves ? 2 : 1));
  job.format = f.packed ? 8 : f.a.bits();
  job.n_columns = halves ? n / 2 : n;
  job.split_b = halves;
  job.double_a = halves;
  job.one_copy = one_copy;
  for (int k = 0; k < kSteps; ++k) {
    const int first = k * f.blocks;
    job.idesc[k] = instruction_descriptor(f, m, n, first % 4);
    job.scale_a[k] = first / 4 * 4;
    job.scale_b[k] = first / 4 * 4 * job.tiles_of_b;
  }
  const size_t cta_bytes = job.a_bytes + job.b_bytes + job.scale_bytes;
  std::vector<unsigned char> images(kGroup * cta_bytes);
  for (int r = 0; r < kGroup; ++r) {
    const size_t start = r * cta_bytes;
    const int step_depth = depth / kSteps;
    for (int k = 0; k < kSteps; ++k) {
      const auto put = [&](const Element& type, const Operand& o, int row, auto place) {
        unsigned char bytes[kRowBytes] = {};
        pack_row(f, type, &o.codes[row * depth + k * step_depth], bytes);
        for (int i = 0; i < kRowBytes; ++i) images[place(k * kRowBytes + i)] = bytes[i];
      };
      for (int i = 0; i < m_cta; ++i)
        put(f.a, a, r * m_cta + i, [&](int byte) { return start + place_a(m_cta, i, byte); });
      for (int j = 0; j < n_cta; ++j)
        put(f.b, b, r * n_cta + j, [&](int byte) { return start + job.a_bytes + place_b(j, byte); });
    }
    const size_t scales = start + job.a_bytes + job.b_bytes;
    for (int i = 0; i < m_cta; ++i) put_scales(images, scales, a, r * m_cta + i, i, 32, 1);
    const size_t of_b = scales + job.groups * 512;
    for (int j = 0; j < n; ++j) {
      const bool upper = halves && j >= n / 2;
      put_scales(images, of_b + (upper ? 512 : 0), b, j, upper ? j - n / 2 : j, halves ? 64 : 32,
                 job.tiles_of_b);
    }
  }
  const auto got = launch<kGroup, kInTmem, kForm>(job, images);
  const std::vector<double> x = a.scaled(), y = b.scaled();
  int wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int k = 0; k < depth; ++k) want += x[i * depth + k] * y[j * depth + k];
      int lane = i % m_cta, column = j;
      if (halves && j >= n / 2) lane += 64, column -= n / 2;
      float value;
      std::memcpy(&value, &got[(i / m_cta * 128 + lane) * 256 + column], 4);
      wrong += value != want;
    }
  }
  if (wrong)
    std::printf("  form %d %s x %s%s, cta_group::%d, A in %s, %dx%d: %d wrong\n", kForm, f.a.name, f.b.name,
                f.ue4m3 ? " ue4m3" : "", kGroup, kInTmem ? "tensor memory" : "shared memory", m, n, wrong);
  return wrong;
}

template <int kForm>
int shapes(const Format& f) {
  int wrong = 0;
  for (int n : {8, 40, 128, 256})
    wrong += multiply_once<1, false, kForm>(f, 128, n) + multiply_once<1, true, kForm>(f, 128, n);
  for (int m : {128, 256})
    for (int n : {16, 80, 256})
      wrong += multiply_once<2, false, kForm>(f, m, n) + multiply_once<2, true, kForm>(f, m, n);
  return wrong;
}

int mxf8f6f4() {
  int wrong = shapes<kMx8>({kMx8, kE4M3, kE5M2, false, 1, false});
  wrong += shapes<kMx8Block32>({kMx8Block32, kE2M1, kE3M2, false, 1, false});
  wrong += shapes<kMx8Vector>({kMx8Vector, kE2M3, kE2M1, false, 1, false});
  for (const Element& a : {kE4M3, kE5M2, kE2M3, kE3M2, kE2M1}) {
    for (const Element& b : {kE4M3, kE5M2, kE2M3, kE3M2, kE2M1}) {
      const Format f{kMx8, a, b, false, 1, false};
      wrong += multiply_once<1, false, kMx8>(f, 128, 64) + multiply_once<1, true, kMx8>(f, 128, 64);
    }
  }
  return wrong;
}

int mxf4() {
  return shapes<kMx4>({kMx4, kE2M1, kE2M1, true, 2, false}) +
         shapes<kMx4Block32>({kMx4Block32, kE2M1, kE2M1, true, 2, false}) +
         shapes<kMx4Vector>({kMx4Vector, kE2M1, kE2M1, true, 2, false});
}

int mxf4nvf4() {
  return shapes<kNv4Block16>({kNv4Block16, kE2M1, kE2M1, true, 4, true}) +
         shapes<kNv4Block16>({kNv4Block16, kE2M1, kE2M1, true, 4, false}) +
         shapes<kNv4Block32>({kNv4Block32, kE2M1, kE2M1, true, 2, false}) +
         shapes<kNv4Vector2>({kNv4Vector2, kE2M1, kE2M1, true, 2, false}) +
         shapes<kNv4Vector4>({kNv4Vector4, kE2M1, kE2M1, true, 4, true});
}

// Right on hardware as it seems, but not by the manual: factors that only lanes 0 to 31 hold.
int one_copy() {
  return multiply_once<1, false, kMx8>({kMx8, kE4M3, kE4M3, false, 1, false}, 128, 128, true) +
         multiply_once<1, false, kNv4Block16>({kNv4Block16, kE2M1, kE2M1, true, 4, true}, 128, 128, true);
}

constexpr Case kCases[] = {
    {"mxf8f6f4", mxf8f6f4}, {"mxf4", mxf4}, {"mxf4nvf4", mxf4nvf4}, {"one_copy", one_copy}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
