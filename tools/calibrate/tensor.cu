// Blackwell's tensor core and tensor memory: interval and latency of tcgen05.mma, loads and stores of TMEM.
#include "barrier.cuh"
#include "benchmark.h"
#include "descriptor.cuh"
#include "measure.cuh"
#include "mma.cuh"
#include "tmem.cuh"

namespace calibrate {
namespace {

constexpr int kBytes = 96 * 1024;
constexpr int kRounds = 16;

// Eight register names from a leading digit.
#define CALIBRATE_8(d) "r" d "0, r" d "1, r" d "2, r" d "3, r" d "4, r" d "5, r" d "6, r" d "7"
#define CALIBRATE_16(d, e) CALIBRATE_8(d) ", " CALIBRATE_8(e)
#define CALIBRATE_32 CALIBRATE_16("0", "1") ", " CALIBRATE_16("2", "3")
#define CALIBRATE_64 CALIBRATE_32 ", " CALIBRATE_16("4", "5") ", " CALIBRATE_16("6", "7")
#define CALIBRATE_LOAD(x, list)                                                        \
  asm volatile("{ .reg .b32 " list "; tcgen05.ld.sync.aligned.32x32b." x ".b32 {" list \
               "}, [%0]; }" ::"r"(at)                                                  \
               : "memory")
#define CALIBRATE_STORE(x, list)                                                        \
  asm volatile("{ .reg .b32 " list                                                      \
               "; mov.b32 r00, 0; "                                                     \
               "tcgen05.st.sync.aligned.32x32b." x ".b32 [%0], {" list "}; }" ::"r"(at) \
               : "memory")

template <bool kTmemA, int kCount>
__global__ void multiply(Stamp* stamps, int n) {
#if __CUDA_ARCH__ >= 1000
  extern __shared__ __align__(1024) unsigned char operands[];
  __shared__ uint64_t done;
  __shared__ uint32_t base;
  for (int i = threadIdx.x; i < kBytes / 4; i += 32) reinterpret_cast<uint32_t*>(operands)[i] = 0;
  if (threadIdx.x == 0) mbarrier::init(&done, 1);
  tmem::alloc(&base, 512);
  fence_proxy_async_shared();
  __syncwarp();
  const uint32_t tmem = base;
  if (elect_one()) {  // not threadIdx.x == 0: for that ptxas issues lane by lane
    const uint64_t a = matrix_descriptor(shared_address(operands), 16, 1024, Swizzle::k128B);
    const uint64_t b = matrix_descriptor(shared_address(operands) + 32 * 1024, 16, 1024, Swizzle::k128B);
    const uint32_t shape = instruction_descriptor(128, 8, Major::kK, Major::kK) + ((n - 8) >> 3 << 17);
    for (int pass = 0; pass < 2; ++pass) {
      const long long begin = clock64();
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (kTmemA) {
          tcgen05::mma_ts(tmem, tmem + 256, b, shape, false);
        } else {
          tcgen05::mma_ss(tmem, a, b, shape, false);
        }
      }
      tcgen05::commit(&done);
      mbarrier::wait(&done, pass);
      stamps[0] = {begin, clock64()};
    }
  }
  __syncwarp();
  tmem::dealloc(tmem, 512);
#endif
}

// Each warp moves `columns` columns and waits, over and over.
template <int kColumns, bool kStore>
__global__ void move(Stamp* stamps) {
#if __CUDA_ARCH__ >= 1000
  __shared__ uint32_t base;
  if (threadIdx.x < 32) tmem::alloc(&base, 512);
  __syncthreads();
  const uint32_t at = tmem::address(base, threadIdx.x / 32 * 32, 0);
  CALIBRATE_STORE("x64", CALIBRATE_64);
  tmem::wait_store();
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      if constexpr (kStore) {
        if constexpr (kColumns == 8) CALIBRATE_STORE("x8", CALIBRATE_8("0"));
        if constexpr (kColumns == 16) CALIBRATE_STORE("x16", CALIBRATE_16("0", "1"));
        if constexpr (kColumns == 32) CALIBRATE_STORE("x32", CALIBRATE_32);
        if constexpr (kColumns == 64) CALIBRATE_STORE("x64", CALIBRATE_64);
        tmem::wait_store();
      } else {
        if constexpr (kColumns == 8) CALIBRATE_LOAD("x8", CALIBRATE_8("0"));
        if constexpr (kColumns == 16) CALIBRATE_LOAD("x16", CALIBRATE_16("0", "1"));
        if constexpr (kColumns == 32) CALIBRATE_LOAD("x32", CALIBRATE_32);
        if constexpr (kColumns == 64) CALIBRATE_LOAD("x64", CALIBRATE_64);
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
      }
    }
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {begin, end};
  }
  __syncthreads();
  if (threadIdx.x < 32) tmem::dealloc(base, 512);
#endif
}

enum class Fence { kWaits, kThreadSync };

template <Fence kWhat>
__global__ void fences(Stamp* stamps) {
#if __CUDA_ARCH__ >= 1000
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      if (kWhat == Fence::kWaits) {
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        tmem::wait_store();
      } else {
        tcgen05::fence_before_thread_sync();
        tcgen05::fence_after_thread_sync();
      }
    }
    stamps[0] = {begin, clock64()};
  }
#endif
}

__global__ void allocate(Stamp* stamps) {
#if __CUDA_ARCH__ >= 1000
  __shared__ uint32_t base;
  const long long begin = clock64();
  tmem::alloc(&base, 512);
  stamps[0] = {begin, clock64()};
  __syncwarp();
  tmem::dealloc(base, 512);
#endif
}

template <bool kTmemA>
void add_multiply(std::vector<Benchmark>& list) {
  const std::string source = kTmemA ? "ts" : "ss";
  for (const int n : {64, 96, 128, 256}) {
    list.push_back({"mma.interval_" + source + "_n" + std::to_string(n), "cyc", [=] {
                      return (span(stamps_of(multiply<kTmemA, 20>, 32, kBytes, n)) -
                              span(stamps_of(multiply<kTmemA, 4>, 32, kBytes, n))) /
                             16;
                    }});
  }
  for (const int n : {64, 128, 256}) {
    list.push_back({"mma.latency_" + source + "_n" + std::to_string(n), "cyc",
                    [=] { return span(stamps_of(multiply<kTmemA, 1>, 32, kBytes, n)); }});
  }
}

template <int kColumns, bool kStore>
void add_move(std::vector<Benchmark>& list) {
  for (const int warps : {1, 4}) {
    list.push_back({std::string("tmem.") + (kStore ? "store" : "load") + "_wait_x" +
                        std::to_string(kColumns) + "_" + std::to_string(warps) +
                        (warps == 1 ? "_warp" : "_warps"),
                    "cyc", [=] { return span(stamps_of(move<kColumns, kStore>, warps * 32, 0)) / kRounds; }});
  }
}

}  // namespace

std::vector<Benchmark> tensor_benchmarks(const Target& target) {
  std::vector<Benchmark> list;
  if (!target.blackwell) return list;
  add_multiply<false>(list);
  add_multiply<true>(list);
  add_move<8, true>(list);
  add_move<16, true>(list);
  add_move<32, true>(list);
  add_move<64, true>(list);
  add_move<8, false>(list);
  add_move<16, false>(list);
  add_move<32, false>(list);
  add_move<64, false>(list);
  list.push_back(
      {"tmem.wait_pair", "cyc", [] { return span(stamps_of(fences<Fence::kWaits>, 32, 0)) / kRounds; }});
  list.push_back({"tcgen05.fence_pair", "cyc",
                  [] { return span(stamps_of(fences<Fence::kThreadSync>, 32, 0)) / kRounds; }});
  list.push_back({"tmem.alloc", "cyc", [] { return span(stamps_of(allocate, 32, 0)); }});
  return list;
}

}  // namespace calibrate
