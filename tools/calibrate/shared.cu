// Shared memory: latency, what bank conflicts cost, bytes a clock.
#include "barrier.cuh"
#include "benchmark.h"
#include "measure.cuh"

namespace calibrate {
namespace {

constexpr int kAccesses = 32;
constexpr int kRepeats = 8;
constexpr int kThreads = 256;
constexpr int kBytes = 48 * 1024;

__global__ void chase(Stamp* stamps, uint32_t* sink) {
  extern __shared__ __align__(128) unsigned char bytes[];
  auto* next = reinterpret_cast<uint32_t*>(bytes);
  for (int i = threadIdx.x; i < 1024; i += 32) next[i] = shared_address(&next[(i + 33) % 1024]);
  __syncthreads();
  uint32_t at = shared_address(&next[threadIdx.x]);
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRepeats; ++r) {
#pragma unroll
      for (int k = 0; k < kAccesses; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    }
    stamps[0] = {begin, clock64()};
  }
  sink[threadIdx.x] = at;
}

// Each lane reads words `stride` apart. `step` is 0, which the compiler does not know: it must load again.
__global__ void strided_load(Stamp* stamps, int stride, int step, uint32_t* sink) {
  extern __shared__ __align__(128) unsigned char bytes[];
  for (int i = threadIdx.x; i < kBytes / 4; i += kThreads) reinterpret_cast<uint32_t*>(bytes)[i] = i;
  uint32_t at = shared_address(bytes) + threadIdx.x % 32 * stride * 4;
  uint32_t sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRepeats; ++r, at += step) {
#pragma unroll
      for (int k = 0; k < kAccesses; ++k) {
        uint32_t value;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at + k * 128));
        sum ^= value;
      }
    }
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {begin, end};
  }
  sink[threadIdx.x] = sum;
}

template <bool kStore>
__global__ void vector_access(Stamp* stamps, int step, uint32_t* sink) {
  extern __shared__ __align__(128) unsigned char bytes[];
  for (int i = threadIdx.x; i < kBytes / 4; i += kThreads) reinterpret_cast<uint32_t*>(bytes)[i] = i;
  uint32_t at = shared_address(bytes) + threadIdx.x % 32 * 16;
  uint32_t sum = threadIdx.x;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRepeats; ++r, at += step) {
#pragma unroll
      for (int k = 0; k < kAccesses; ++k) {
        if constexpr (kStore) {
          asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at + k * 512), "r"(sum) : "memory");
        } else {
          uint32_t v[4];
          asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                       : "r"(at + k * 512));
          sum ^= v[0] ^ v[1] ^ v[2] ^ v[3];
        }
      }
    }
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {begin, end};
  }
  sink[threadIdx.x] = sum;
}

constexpr double kWarpAccesses = kThreads / 32.0 * kAccesses * kRepeats;

}  // namespace

std::vector<Benchmark> shared_benchmarks(const Target&) {
  std::vector<Benchmark> list;
  const auto with_sink = [](auto kernel, int threads, auto... arguments) {
    const DeviceArray<uint32_t> sink(kThreads);
    return span(stamps_of(kernel, threads, kBytes, arguments..., sink.data()));
  };
  list.push_back(
      {"shared.load_latency", "cyc", [=] { return with_sink(chase, 32) / (kAccesses * kRepeats); }});
  for (const int stride : {1, 2, 4, 8, 16, 32}) {
    list.push_back({"shared.load_stride_" + std::to_string(stride), "cyc/warp",
                    [=] { return with_sink(strided_load, kThreads, stride, 0) / kWarpAccesses; }});
  }
  list.push_back({"shared.load_16B", "B/cyc/SM",
                  [=] { return kWarpAccesses * 512 / with_sink(vector_access<false>, kThreads, 0); }});
  list.push_back({"shared.store_16B", "B/cyc/SM",
                  [=] { return kWarpAccesses * 512 / with_sink(vector_access<true>, kThreads, 0); }});
  return list;
}

}  // namespace calibrate
