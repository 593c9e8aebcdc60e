// mma.sync attention as classic kernels write it (ldmatrix, cp.async), warp-wide exchange, conversions, wide
// accesses.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cmath>

#include "barrier.cuh"
#include "check.h"

namespace {

constexpr int kDim = 64, kKeys = 64;

__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ uint32_t pack(float low, float high) {
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

// One warp: sixteen queries against kKeys keys.
__global__ void attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, float* o) {
  __shared__ alignas(128) __nv_bfloat16 sq[16 * kDim], sk[kKeys * kDim], sv[kKeys * kDim];
  const int lane = threadIdx.x;
  const auto copy = [&](const __nv_bfloat16* from, __nv_bfloat16* to, int count) {
    for (int i = lane * 8; i < count; i += 32 * 8)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + i)), "l"(from + i)
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  copy(q, sq, 16 * kDim);
  copy(k, sk, kKeys * kDim);
  copy(v, sv, kKeys * kDim);
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncwarp();
  float s[kKeys / 8][4] = {};
  for (int d = 0; d < kDim; d += 16) {
    uint32_t a[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(sq + (lane % 16) * kDim + d + lane / 16 * 8)));
    for (int n = 0; n < kKeys / 8; ++n) {
      uint32_t b0, b1;
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(b0), "=r"(b1)
                   : "r"(shared_address(sk + (n * 8 + lane % 8) * kDim + d + lane / 8 % 2 * 8)));
      mma(s[n], a, b0, b1);
    }
  }
  float top[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
  for (auto& tile : s)
    for (int i = 0; i < 4; ++i) top[i / 2] = fmaxf(top[i / 2], tile[i]);
  for (int r = 0; r < 2; ++r)
    for (int step = 1; step < 4; step *= 2) top[r] = fmaxf(top[r], __shfl_xor_sync(~0u, top[r], step));
  for (auto& tile : s)
    for (int i = 0; i < 4; ++i) sum[i / 2] += tile[i] = __expf((tile[i] - top[i / 2]) * 0.125f);
  for (int r = 0; r < 2; ++r)
    for (int step = 1; step < 4; step *= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], step);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  float out[kDim / 8][4] = {};
  for (int key = 0; key < kKeys; key += 16) {
    const auto& left = s[key / 8];
    const auto& right = s[key / 8 + 1];
    const uint32_t a[4] = {pack(left[0], left[1]), pack(left[2], left[3]), pack(right[0], right[1]),
                           pack(right[2], right[3])};
    for (int n = 0; n < kDim / 8; ++n) {
      uint32_t b0, b1;
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(b0), "=r"(b1)
                   : "r"(shared_address(sv + (key + lane % 16) * kDim + n * 8)));
      mma(out[n], a, b0, b1);
    }
  }
  for (int n = 0; n < kDim / 8; ++n)
    for (int i = 0; i < 4; ++i)
      o[(lane / 4 + i / 2 * 8) * kDim + n * 8 + lane % 4 * 2 + i % 2] = out[n][i] / sum[i / 2];
}

int mma_attention() {
  std::vector<__nv_bfloat16> q(16 * kDim), k(kKeys * kDim), v(kKeys * kDim);
  const auto fill = [](std::vector<__nv_bfloat16>& m, int step) {
    for (size_t i = 0; i < m.size(); ++i)
      m[i] = __float2bfloat16(static_cast<float>(static_cast<int>(i * step % 37) - 18) / 8);
  };
  fill(q, 7), fill(k, 11), fill(v, 5);
  float* o = device_zeros<float>(16 * kDim);
  attention<<<1, 32>>>(device_copy(q), device_copy(k), device_copy(v), o);
  const auto got = host_copy(o, 16 * kDim);
  int wrong = 0;
  for (int r = 0; r < 16; ++r) {
    double p[kKeys], top = -INFINITY, sum = 0;
    for (int n = 0; n < kKeys; ++n) {
      p[n] = 0;
      for (int d = 0; d < kDim; ++d)
        p[n] += double{__bfloat162float(q[r * kDim + d])} * __bfloat162float(k[n * kDim + d]);
      top = std::fmax(top, p[n]);
    }
    for (double& x : p) sum += x = std::exp((x - top) * 0.125);
    for (int d = 0; d < kDim; ++d) {
      double want = 0;
      for (int n = 0; n < kKeys; ++n) want += p[n] / sum * __bfloat162float(v[n * kDim + d]);
      wrong += !(std::fabs(got[r * kDim + d] - want) <= 0.02);
    }
  }
  return wrong;
}

__global__ void exchange(uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  uint32_t at = 0;
  const auto put = [&](uint32_t value) { out[at++ * 32 + lane] = value; };
  put(__ballot_sync(~0u, lane % 3 == 0));
  put(__any_sync(~0u, lane == 7) * 2 + __all_sync(~0u, lane < 32));
  put(__shfl_up_sync(~0u, lane, 3));
  put(__shfl_down_sync(~0u, lane, 5, 16));
  put(__match_any_sync(~0u, lane / 5));
  put(__reduce_add_sync(~0u, lane));
  put(__reduce_max_sync(~0u, (lane * 11) % 32));
  uint32_t value = lane;
  if (lane % 2) value = __shfl_sync(0xaaaaaaaa, lane * 10, (lane + 2) % 32);  // odd lanes alone
  put(value);
  put(elect_one());
  uint32_t moved;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(moved)
               : "r"(lane << 16 | (lane + 100)));
  put(moved);
  float largest;
  asm("max.f32 %0, %1, %2, %3;" : "=f"(largest) : "f"(lane * 1.0f), "f"(15.0f), "f"(31.0f - lane));
  put(static_cast<uint32_t>(largest));
  uint64_t pair;
  asm("{.reg .b64 a; mov.b64 a, {%1, %2}; fma.rn.f32x2 %0, a, a, a;}"
      : "=l"(pair)
      : "f"(lane * 1.0f), "f"(2.0f));
  put(static_cast<uint32_t>(__uint_as_float(static_cast<uint32_t>(pair))));
  put(static_cast<uint32_t>(__uint_as_float(static_cast<uint32_t>(pair >> 32))));
  put(__dp4a(0x01020304, static_cast<int>(lane * 0x01010101), 5));
  put(__fns(0xF0F0F0F0, 0, static_cast<int>(lane % 8) + 1));
  put(__byte_perm(0x33221100, 0x77665544, lane << 12 | 0x531));
}

int exchanges() {
  uint32_t* out = device_zeros<uint32_t>(32 * 16);
  exchange<<<1, 32>>>(out);
  const auto got = host_copy(out, 32 * 16);
  int wrong = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t thirds = 0, alike = 0;
    for (uint32_t i = 0; i < 32; ++i) thirds |= (i % 3 == 0) << i, alike |= (i / 5 == lane / 5) << i;
    // Register of lane t holds row t / 4, columns 2 (t % 4) and the next: the low half is lane + 100, the
    // high half lane.
    const auto element = [](uint32_t row, uint32_t column) {
      const uint32_t from = row * 4 + column / 2;
      return column % 2 ? from : from + 100;
    };
    const uint32_t row = lane / 4, column = lane % 4 * 2;
    const uint32_t bits = 0xF0F0F0F0;
    uint32_t position = 0, seen = 0;
    for (; position < 32; ++position)
      if (bits >> position & 1 && ++seen == lane % 8 + 1) break;
    const uint32_t nibble = lane % 8;
    const uint32_t want[16] = {thirds,
                               3,
                               lane < 3 ? lane : lane - 3,
                               lane % 16 + 5 < 16 ? lane + 5 : lane,
                               alike,
                               496,
                               31,
                               lane % 2 ? (lane + 2) % 32 * 10 : lane,
                               got[8 * 32 + lane],
                               element(column, row) | element(column + 1, row) << 16,
                               lane > 31 - lane ? std::max(lane, 15u) : std::max(31 - lane, 15u),
                               lane * lane + lane,
                               6,
                               5 + 10 * lane,
                               position,
                               (nibble * 0x11 << 24) | 0x553311};
    for (int i = 0; i < 16; ++i) {
      if (i == 15 && lane % 16 > 7) continue;  // sign replication
      if (got[i * 32 + lane] != want[i]) {
        if (++wrong < 5)
          std::printf("  value %d of lane %u: %u, not %u\n", i, lane, got[i * 32 + lane], want[i]);
      }
    }
  }
  int leaders = 0;
  for (int lane = 0; lane < 32; ++lane) leaders += got[8 * 32 + lane] != 0;
  return wrong + (leaders != 1);
}

__global__ void convert(const float* in, uint32_t* out, float* wide) {
  const int t = threadIdx.x;
  const float x = in[t];
  out[t] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3) |
           __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2) << 8 |
           static_cast<uint32_t>(__bfloat16_as_ushort(__float2bfloat16(x))) << 16;
  if (t < 8) {
    float v[8];
    asm volatile("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]),
                   "=f"(v[7])
                 : "l"(in + t * 8));
    asm volatile("st.relaxed.cta.global.L1::no_allocate.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(
                     wide + t * 8),
                 "r"(__float_as_uint(v[7])), "r"(__float_as_uint(v[6])), "r"(__float_as_uint(v[5])),
                 "r"(__float_as_uint(v[4])), "r"(__float_as_uint(v[3])), "r"(__float_as_uint(v[2])),
                 "r"(__float_as_uint(v[1])), "r"(__float_as_uint(v[0]))
                 : "memory");
  }
}

int conversions() {
  std::vector<float> in(256);
  for (int i = 0; i < 256; ++i) in[i] = std::ldexp(1 + i % 16 / 16.0f, i / 10 - 12) * (i % 2 ? -1 : 1);
  in[255] = INFINITY, in[254] = NAN, in[253] = 1e30f, in[252] = 0;
  uint32_t* out = device_zeros<uint32_t>(256);
  float* device = device_copy(in);
  float* wide = device_zeros<float>(64);
  convert<<<1, 256>>>(device, out, wide);
  const auto got = host_copy(out, 256);
  const auto turned = host_copy(wide, 64);
  int wrong = 0;
  for (int i = 0; i < 256; ++i) {
    const uint32_t want = __nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, __NV_E4M3) |
                          __nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, __NV_E5M2) << 8 |
                          static_cast<uint32_t>(__nv_bfloat16_raw(__float2bfloat16(in[i])).x) << 16;
    // NaN has more than one spelling.
    wrong += i == 254 ? (got[i] & 0x7f) != 0x7f : got[i] != want;
  }
  for (int i = 0; i < 64; ++i) wrong += turned[i] != in[i / 8 * 8 + 7 - i % 8];
  return wrong;
}

constexpr Case kCases[] = {
    {"mma_attention", mma_attention}, {"exchanges", exchanges}, {"conversions", conversions}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
