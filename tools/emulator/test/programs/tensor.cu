// tcgen05.mma in every kind, shape, major and swizzle, against a host that lays the operands out by the
// strings of PTX ISA 9.7.16.3.3 and multiplies in double. The host builds the images of shared memory; the
// kernel only copies, multiplies and reads back, so descriptors are decoded by the emulator alone.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>

#include "barrier.cuh"
#include "check.h"
#include "open_cta.cuh"

namespace {

struct Job {
  uint64_t a, b;  // descriptors without their start address
  uint32_t idesc;
  uint32_t a_bytes, b_bytes;  // of one CTA's images
  uint32_t a_step, b_step;    // bytes from one instruction's operand to the next one's
  int steps, columns, n;
};

enum Kind { kF16, kTf32, kF8, kI8 };

template <int kGroup, int kKind>
__device__ void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t idesc, bool accumulate) {
#define MMA(GROUP, NAME)                                                                           \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::" GROUP ".kind::" NAME \
               " [%0], %1, %2, %3, p;}" ::"r"(d),                                                  \
               "l"(a), "l"(b), "r"(idesc), "r"(int{accumulate})                                    \
               : "memory")
  if constexpr (kGroup == 1 && kKind == kF16) MMA("1", "f16");
  if constexpr (kGroup == 1 && kKind == kTf32) MMA("1", "tf32");
  if constexpr (kGroup == 1 && kKind == kF8) MMA("1", "f8f6f4");
  if constexpr (kGroup == 1 && kKind == kI8) MMA("1", "i8");
  if constexpr (kGroup == 2 && kKind == kF16) MMA("2", "f16");
  if constexpr (kGroup == 2 && kKind == kTf32) MMA("2", "tf32");
  if constexpr (kGroup == 2 && kKind == kF8) MMA("2", "f8f6f4");
  if constexpr (kGroup == 2 && kKind == kI8) MMA("2", "i8");
#undef MMA
}

// One CTA, or a pair of which the even one issues. `out`: 128 lanes x 256 columns per CTA.
template <int kGroup, int kKind>
__global__ void __launch_bounds__(128) tile(Job job, const uint4* images, uint32_t* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ uint64_t done;
  __shared__ uint32_t tmem;
  uint32_t rank = 0;
  if constexpr (kGroup == 2) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const uint32_t base = shared_address(memory);
  const uint32_t total = job.a_bytes + job.b_bytes;
  for (uint32_t i = threadIdx.x; i < total / 16; i += 128)
    reinterpret_cast<uint4*>(memory)[i] = images[rank * (total / 16) + i];
  fence_proxy_async_shared();
  if (threadIdx.x == 0) {
    mbarrier::init(&done, 1);
    mbarrier::fence_init();
  }
  if (threadIdx.x < 32) {
    if constexpr (kGroup == 1)
      asm volatile(
          "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(shared_address(&tmem)));
    else
      asm volatile(
          "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(shared_address(&tmem)));
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if constexpr (kGroup == 2) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (threadIdx.x == 0 && rank == 0) {
    for (int k = 0; k < job.steps; ++k) {
      multiply<kGroup, kKind>(tmem, job.a | (base + k * job.a_step) >> 4,
                              job.b | (base + job.a_bytes + k * job.b_step) >> 4, job.idesc, k > 0);
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
  const uint32_t lane = threadIdx.x;
  for (int c = 0; c < job.columns; ++c) {
    uint32_t value;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];"
                 : "=r"(value)
                 : "r"(tmem + (lane / 32 * 32 << 16) + c));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[(rank * 128 + lane) * 256 + c] = value;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if constexpr (kGroup == 2) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  if (threadIdx.x < 32) {
    if constexpr (kGroup == 1)
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" ::"r"(tmem));
    else
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 256;" ::"r"(tmem));
  }
}

struct Type {
  const char* name;
  Kind kind;
  int bytes;
  uint32_t a_code, d_code;
  double (*encode)(double, uint32_t*);  // the value that the element then holds
};

double as_f16(double v, uint32_t* bits) {
  const __half h(static_cast<float>(v));
  *bits = __half_raw(h).x;
  return __half2float(h);
}
double as_bf16(double v, uint32_t* bits) {
  const float f = static_cast<float>(v);  // small integers: exact
  std::memcpy(bits, &f, 4);
  *bits >>= 16;
  return v;
}
double as_tf32(double v, uint32_t* bits) {
  const float f = static_cast<float>(v);
  std::memcpy(bits, &f, 4);
  return v;
}
double as_e4m3(double v, uint32_t* bits) {
  *bits = __nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(*bits), __NV_E4M3)));
}
double as_e5m2(double v, uint32_t* bits) {
  *bits = __nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E5M2);
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(*bits), __NV_E5M2)));
}
double as_s8(double v, uint32_t* bits) {
  *bits = static_cast<uint8_t>(static_cast<int8_t>(v));
  return v;
}

constexpr Type kTypes[] = {{"f16", kF16, 2, 0, 1, as_f16},    {"bf16", kF16, 2, 1, 1, as_bf16},
                           {"tf32", kTf32, 4, 2, 1, as_tf32}, {"e4m3", kF8, 1, 0, 1, as_e4m3},
                           {"e5m2", kF8, 1, 1, 1, as_e5m2},   {"s8", kI8, 1, 1, 2, as_s8}};

struct Layout {
  bool mn_major;
  int swizzle;  // bytes: 0, 32, 64, 128
};

// An operand of `extent` x `depth` elements in shared memory.
struct Image {
  uint64_t descriptor;
  uint32_t bytes, step;
  uint32_t at(int mn, int k) const {
    const int row = mn_major ? k : mn, column = mn_major ? mn : k;
    uint32_t linear;
    if (swizzle == 0) {
      const int t = 16 / size;
      linear = (row % 8) * 16 + (row / 8) * 128 +
               (column / t) * (mn_major ? depth / 8 * 128 : extent / 8 * 128) + column % t * size;
    } else {
      const int atom = swizzle / size;
      linear = row * swizzle + column / atom * (mn_major ? depth : extent) * swizzle + column % atom * size;
      linear ^= linear >> 3 & (swizzle / 16 - 1) << 4;
    }
    return linear;
  }
  bool mn_major;
  int swizzle, size, extent, depth;
};

Image make_image(Layout layout, int size, int extent, int depth, int instruction_depth) {
  Image i{};
  i.mn_major = layout.mn_major;
  i.swizzle = layout.swizzle;
  i.size = size;
  i.extent = extent;
  i.depth = depth;
  uint32_t leading, stride, code;
  const int rows = layout.mn_major ? depth : extent;
  const int row_bytes = (layout.mn_major ? extent : depth) * size;
  const int pitch =
      layout.swizzle ? (row_bytes + layout.swizzle - 1) / layout.swizzle * layout.swizzle : row_bytes;
  i.bytes = static_cast<uint32_t>(rows * pitch + 1023) / 1024 * 1024;
  if (layout.swizzle == 0) {
    // Without a swizzle the two offsets change roles with the major.
    leading = layout.mn_major ? 128 : rows / 8 * 128;
    stride = layout.mn_major ? rows / 8 * 128 : 128;
    code = 0;
    i.step = layout.mn_major ? instruction_depth / 8 * 128 : 2 * rows / 8 * 128;
  } else {
    leading = layout.mn_major ? rows * layout.swizzle : 16;
    stride = 8 * layout.swizzle;
    code = layout.swizzle == 128 ? 2 : layout.swizzle == 64 ? 4 : 6;
    i.step = layout.mn_major ? instruction_depth * layout.swizzle : 32;
  }
  i.descriptor =
      uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 | 1ull << 46 | uint64_t{code} << 61;
  return i;
}

template <int kGroup, int kKind>
void launch_tile(const Job& job, const uint4* images, uint32_t* out) {
  const size_t bytes = job.a_bytes + job.b_bytes;
  REQUIRE_CUDA(
      cudaFuncSetAttribute(tile<kGroup, kKind>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {kGroup, 1, 1};
  cudaLaunchConfig_t config{dim3(kGroup), dim3(128), bytes, nullptr, &attribute, 1};
  REQUIRE_CUDA(cudaLaunchKernelEx(&config, tile<kGroup, kKind>, job, images, out));
}

int multiply_once(const Type& type, int group, int m, int n, Layout la, Layout lb) {
  const int instruction_depth = 32 / type.bytes;
  // K-major swizzled operands are stepped through one atom; the others through two instructions.
  const int steps = !la.mn_major && !lb.mn_major && la.swizzle == lb.swizzle && la.swizzle > 32
                        ? la.swizzle / 32
                    : (!la.mn_major && la.swizzle == 32) || (!lb.mn_major && lb.swizzle == 32) ? 1
                                                                                               : 2;
  const int depth = steps * instruction_depth;
  std::vector<double> a(m * depth), b(n * depth);
  std::vector<uint32_t> a_bits(a.size()), b_bits(b.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = type.encode(static_cast<int>(i * 7 % 11) - 5, &a_bits[i]);
  for (size_t i = 0; i < b.size(); ++i) b[i] = type.encode(static_cast<int>(i * 5 % 13) - 6, &b_bits[i]);
  const int m_cta = m / group, n_cta = n / group;
  const Image ia = make_image(la, type.bytes, m_cta, depth, instruction_depth);
  const Image ib = make_image(lb, type.bytes, n_cta, depth, instruction_depth);
  std::vector<unsigned char> images(group * (ia.bytes + ib.bytes), 0xEE);
  for (int r = 0; r < group; ++r) {
    unsigned char* at = images.data() + r * (ia.bytes + ib.bytes);
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < m_cta; ++i)
        std::memcpy(at + ia.at(i, k), &a_bits[(r * m_cta + i) * depth + k], type.bytes);
      for (int i = 0; i < n_cta; ++i)
        std::memcpy(at + ia.bytes + ib.at(i, k), &b_bits[(r * n_cta + i) * depth + k], type.bytes);
    }
  }
  const bool halves = group == 2 && m == 128;  // layout B: both halves of the columns side by side in lanes
  Job job{ia.descriptor, ib.descriptor, 0,     ia.bytes,           ib.bytes,
          ia.step,       ib.step,       steps, halves ? n / 2 : n, n};
  job.idesc = type.d_code << 4 | type.a_code << 7 | type.a_code << 10 | uint32_t{la.mn_major} << 15 |
              uint32_t{lb.mn_major} << 16 | static_cast<uint32_t>(n >> 3) << 17 |
              static_cast<uint32_t>(m >> 4) << 24;
  auto* device = reinterpret_cast<uint4*>(device_copy(images));
  uint32_t* out = device_zeros<uint32_t>(2 * 128 * 256);
  if (group == 1) {
    if (type.kind == kF16) launch_tile<1, kF16>(job, device, out);
    if (type.kind == kTf32) launch_tile<1, kTf32>(job, device, out);
    if (type.kind == kF8) launch_tile<1, kF8>(job, device, out);
    if (type.kind == kI8) launch_tile<1, kI8>(job, device, out);
  } else {
    if (type.kind == kF16) launch_tile<2, kF16>(job, device, out);
    if (type.kind == kTf32) launch_tile<2, kTf32>(job, device, out);
    if (type.kind == kF8) launch_tile<2, kF8>(job, device, out);
    if (type.kind == kI8) launch_tile<2, kI8>(job, device, out);
  }
  const auto got = host_copy(out, 2 * 128 * 256);
  REQUIRE_CUDA(cudaFree(out));
  REQUIRE_CUDA(cudaFree(device));
  int wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double want = 0;
      for (int k = 0; k < depth; ++k) want += a[i * depth + k] * b[j * depth + k];
      const int r = i / m_cta;
      int lane = i % m_cta, column = j;
      if (group == 1 && m == 64) lane = i % 16 + 32 * (i / 16);
      if (halves && j >= n / 2) lane += 64, column -= n / 2;
      const uint32_t bits = got[(r * 128 + lane) * 256 + column];
      float value;
      std::memcpy(&value, &bits, 4);
      wrong += type.kind == kI8 ? static_cast<int>(bits) != want : value != want;
    }
  }
  if (wrong) {
    std::printf("  %s cta_group::%d %dx%d A %s swizzle %d, B %s swizzle %d: %d wrong\n", type.name, group, m,
                n, la.mn_major ? "MN" : "K", la.swizzle, lb.mn_major ? "MN" : "K", lb.swizzle, wrong);
  }
  return wrong;
}

int kinds() {
  int wrong = 0;
  for (const Type& type : kTypes) {
    for (int m : {64, 128}) {
      for (int n : {16, 64, 256}) wrong += multiply_once(type, 1, m, n, {false, 128}, {false, 128});
    }
  }
  return wrong;
}

int layouts() {
  int wrong = 0;
  for (const Type& type : {kTypes[1], kTypes[3]}) {
    for (int sa : {0, 32, 64, 128}) {
      for (int sb : {0, 32, 64, 128}) {
        wrong += multiply_once(type, 1, 128, 128, {false, sa}, {false, sb});
        wrong += multiply_once(type, 1, 128, 128, {false, sa}, {true, sb});
        wrong += multiply_once(type, 1, 128, 128, {true, sa}, {true, sb});
      }
    }
  }
  return wrong;
}

int pairs() {
  int wrong = 0;
  for (const Type& type : kTypes) {
    for (int m : {128, 256}) {
      for (int n : {64, 128, 256}) wrong += multiply_once(type, 2, m, n, {false, 128}, {false, 128});
    }
  }
  for (int sb : {64, 128}) wrong += multiply_once(kTypes[1], 2, 256, 256, {false, 128}, {true, sb});
  wrong += multiply_once(kTypes[0], 2, 128, 256, {true, 128}, {true, 128});
  return wrong;
}

constexpr int kCopyShapes = 6;

// One tcgen05.cp of each shape from a source of 16-byte columns without swizzle; eight columns of every lane
// come back.
template <int kShape>
__global__ void __launch_bounds__(128)
    copy_to_tmem(const uint32_t* image, uint64_t descriptor, uint32_t* out) {
  __shared__ alignas(1024) uint32_t source[1024];
  __shared__ uint64_t done;
  __shared__ uint32_t tmem;
  for (int i = threadIdx.x; i < 1024; i += 128) source[i] = image[i];
  fence_proxy_async_shared();
  open_cta<1, 32>(&done, &tmem);
  const uint32_t own = tmem + (threadIdx.x / 32 * 32 << 16);
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"r"(own),
               "r"(9999));
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const uint64_t from = descriptor | shared_address(source) >> 4;
#define COPY(NUMBER, SHAPE)       \
  if constexpr (kShape == NUMBER) \
  asm volatile("tcgen05.cp.cta_group::1." SHAPE " [%0], %1;" ::"r"(tmem), "l"(from) : "memory")
    COPY(0, "128x256b");
    COPY(1, "128x128b");
    COPY(2, "4x256b");
    COPY(3, "64x128b.warpx2::02_13");
    COPY(4, "64x128b.warpx2::01_23");
    COPY(5, "32x128b.warpx4");
#undef COPY
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                     shared_address(&done))
                 : "memory");
  }
  mbarrier::wait(&done, 0);
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  uint32_t v[8];
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]),
                 "=r"(v[7])
               : "r"(own));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  for (int c = 0; c < 8; ++c) out[threadIdx.x * 8 + c] = v[c];
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(tmem));
}

constexpr int kShifted = 10;  // columns, of which a shift takes 8 from the second on

__global__ void __launch_bounds__(128) shift_rows(uint32_t* out) {
  __shared__ uint64_t done;
  __shared__ uint32_t tmem;
  open_cta<1, 32>(&done, &tmem);
  const uint32_t own = tmem + (threadIdx.x / 32 * 32 << 16);
  for (uint32_t c = 0; c < kShifted; ++c)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(own + c),
                 "r"(threadIdx.x * 100 + c));
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(tmem + 1) : "memory");
    asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(tmem + 1) : "memory");
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                     shared_address(&done))
                 : "memory");
  }
  mbarrier::wait(&done, 0);
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int c = 0; c < kShifted; ++c) {
    uint32_t value;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(own + c));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[threadIdx.x * kShifted + c] = value;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (threadIdx.x < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(tmem));
}

// Two shifts: a published readback on a B200 found row[r] = old_row[min(r + N, 31)] in each quarter of 32
// lanes.
int tmem_shift() {
  uint32_t* out = device_zeros<uint32_t>(128 * kShifted);
  shift_rows<<<1, 128>>>(out);
  const auto got = host_copy(out, 128 * kShifted);
  int wrong = 0;
  for (int lane = 0; lane < 128; ++lane) {
    const int from = lane / 32 * 32 + (lane % 32 + 2 < 31 ? lane % 32 + 2 : 31);
    for (int c = 0; c < kShifted; ++c)
      wrong += got[lane * kShifted + c] != static_cast<uint32_t>((c >= 1 && c < 9 ? from : lane) * 100 + c);
  }
  return wrong;
}

// The source row that a lane holds after the copy, -1 for none.
int copied_row(int shape, int lane) {
  switch (shape) {
    case 2:
      return lane % 32 == 0 ? lane / 32 : -1;
    case 3:
      return lane % 64;
    case 4:
      return lane / 64 * 32 + lane % 32;
    case 5:
      return lane % 32;
    default:
      return lane;
  }
}

int tmem_copies() {
  int wrong = 0;
  for (int shape = 0; shape < kCopyShapes; ++shape) {
    const int rows[kCopyShapes] = {128, 128, 4, 64, 64, 32};
    const int columns = shape == 0 || shape == 2 ? 8 : 4;
    const uint32_t leading = (rows[shape] + 7) / 8 * 128;
    std::vector<uint32_t> image(1024, 7777);
    for (int r = 0; r < rows[shape]; ++r) {
      for (int c = 0; c < columns; ++c)
        image[(r % 8 * 16 + r / 8 * 128 + c / 4 * leading) / 4 + c % 4] = r * 10 + c;
    }
    const uint64_t descriptor = uint64_t{leading >> 4} << 16 | uint64_t{128 >> 4} << 32 | 1ull << 46;
    uint32_t *device = device_copy(image), *out = device_zeros<uint32_t>(1024);
    if (shape == 0) copy_to_tmem<0><<<1, 128>>>(device, descriptor, out);
    if (shape == 1) copy_to_tmem<1><<<1, 128>>>(device, descriptor, out);
    if (shape == 2) copy_to_tmem<2><<<1, 128>>>(device, descriptor, out);
    if (shape == 3) copy_to_tmem<3><<<1, 128>>>(device, descriptor, out);
    if (shape == 4) copy_to_tmem<4><<<1, 128>>>(device, descriptor, out);
    if (shape == 5) copy_to_tmem<5><<<1, 128>>>(device, descriptor, out);
    const auto got = host_copy(out, 1024);
    for (int lane = 0; lane < 128; ++lane) {
      const int row = copied_row(shape, lane);
      for (int c = 0; c < 8; ++c)
        wrong += got[lane * 8 + c] != (row < 0 || c >= columns ? 9999u : static_cast<uint32_t>(row * 10 + c));
    }
  }
  return wrong;
}

constexpr Case kCases[] = {{"kinds", kinds},
                           {"layouts", layouts},
                           {"pairs", pairs},
                           {"tmem_copies", tmem_copies},
                           {"tmem_shift", tmem_shift}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
