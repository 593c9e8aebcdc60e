// Global memory, launches, and the time an SM needs from one CTA to the next.
#include <map>

#include "benchmark.h"
#include "measure.cuh"

namespace calibrate {
namespace {

constexpr int kLoads = 64;

// A chain of pointers; .cg keeps out of L1, .ca stays there.
template <bool kL1>
__global__ void chase(Stamp* stamps, const uint64_t* start, uint64_t* sink) {
  for (int pass = 0; pass < 2; ++pass) {
    uint64_t at = reinterpret_cast<uint64_t>(start);
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kLoads / 16; ++r) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        if (kL1) {
          asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
        } else {
          asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
        }
      }
    }
    stamps[0] = {begin, clock64()};
    sink[0] = at;
  }
}

template <bool kL1>
double chase_latency(int stride) {
  const DeviceArray<uint64_t> ring(size_t{kLoads} * stride / 8);
  std::vector<uint64_t> next(size_t{kLoads} * stride / 8);
  for (int i = 0; i < kLoads; ++i) {
    next[size_t(i) * stride / 8] = reinterpret_cast<uint64_t>(ring.data()) + size_t(i + 1) % kLoads * stride;
  }
  check_cuda(cudaMemcpy(ring.data(), next.data(), next.size() * 8, cudaMemcpyHostToDevice), "cudaMemcpy");
  const DeviceArray<uint64_t> sink(1);
  return span(stamps_of(chase<kL1>, 1, 0, ring.data(), sink.data())) / kLoads;
}

// Every block copies its 16 KB `passes` times. `step` is 0, which the compiler does not know.
__global__ void copy(const uint4* from, uint4* to, int passes, size_t step) {
  size_t first = size_t{blockIdx.x} * 4 * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass, first += step) {
    uint4 values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = __ldcg(&from[first + i * blockDim.x]);
#pragma unroll
    for (int i = 0; i < 4; ++i) __stcg(&to[first + i * blockDim.x], values[i]);
  }
}

__global__ void nothing() {}

template <class Launch>
double microseconds(Launch launch, int repeats) {
  cudaEvent_t begin, end;
  check_cuda(cudaEventCreate(&begin), "cudaEventCreate");
  check_cuda(cudaEventCreate(&end), "cudaEventCreate");
  launch();
  check_cuda(cudaEventRecord(begin), "cudaEventRecord");
  for (int i = 0; i < repeats; ++i) launch();
  check_cuda(cudaEventRecord(end), "cudaEventRecord");
  finish("launch");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds * 1000.0 / repeats;
}

double copy_microseconds(size_t bytes, int passes, int repeats) {
  const DeviceArray<uint4> from(bytes / 16), to(bytes / 16);
  const auto blocks = static_cast<unsigned>(bytes / 16 / 1024);
  return microseconds([&] { copy<<<blocks, 256>>>(from.data(), to.data(), passes, 0); }, repeats);
}

// Bytes read and written, in GB/s. The first stays in L2, passes over the same 8 MB; the second goes to
// memory.
double copy_in_l2() {
  constexpr size_t kBytes = size_t{8} << 20;
  return 2.0 * kBytes * 8 / (copy_microseconds(kBytes, 12, 4) - copy_microseconds(kBytes, 4, 4)) / 1e3;
}
double copy_in_memory() {
  constexpr size_t kBytes = size_t{256} << 20;
  return 2.0 * kBytes / copy_microseconds(kBytes, 1, 4) / 1e3;
}

struct Turn {
  long long begin, end;
  uint32_t sm;
};

// With nearly all shared memory to itself, an SM runs one CTA at a time.
__global__ void take_turn(Turn* turns) {
  extern __shared__ unsigned char bytes[];
  const long long begin = clock64();
  bytes[threadIdx.x] = 0;
  while (clock64() - begin < 4000) {
  }
  uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) turns[blockIdx.x] = {begin, clock64(), sm};
}

// Median time between one CTA's last clock and its successor's first on the same SM.
double turnaround(int sms) {
  constexpr int kBytes = 200 * 1024;
  const DeviceArray<Turn> turns(size_t(sms) * 3);
  check_cuda(cudaFuncSetAttribute(take_turn, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
             "shared memory");
  for (int i = 0; i < 2; ++i) take_turn<<<sms * 3, 128, kBytes>>>(turns.data());
  finish("take_turn");
  std::map<uint32_t, std::vector<Turn>> by_sm;
  for (const Turn& turn : turns.download()) by_sm[turn.sm].push_back(turn);
  std::vector<double> gaps;
  for (auto& [sm, list] : by_sm) {
    std::sort(list.begin(), list.end(), [](const Turn& a, const Turn& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < list.size(); ++i)
      gaps.push_back(static_cast<double>(list[i].begin - list[i - 1].end));
  }
  if (gaps.empty()) throw std::runtime_error("no SM ran a second CTA");
  std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
  return gaps[gaps.size() / 2];
}

}  // namespace

std::vector<Benchmark> memory_benchmarks(const Target& target) {
  std::vector<Benchmark> list;
  list.push_back({"global.load_latency_L1", "cyc", [] { return chase_latency<true>(128); }});
  list.push_back({"global.load_latency_L2", "cyc", [] { return chase_latency<false>(8192); }});
  list.push_back({"global.copy_L2", "GB/s", copy_in_l2});
  list.push_back({"global.copy_HBM", "GB/s", copy_in_memory});
  list.push_back(
      {"launch.empty_kernel", "us", [] { return microseconds([] { nothing<<<1, 32>>>(); }, 100); }});
  list.push_back({"cta.turnaround", "cyc", [=] { return turnaround(target.sms); }});
  return list;
}

}  // namespace calibrate
