// Barriers of a CTA, of a warp, and mbarriers; what a hand-off from one warp to another costs.
#include "barrier.cuh"
#include "benchmark.h"
#include "measure.cuh"

namespace calibrate {
namespace {

constexpr int kRounds = 64;

__global__ void sync_threads(Stamp* stamps) {
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRounds / 16; ++r) {
#pragma unroll
      for (int k = 0; k < 16; ++k) __syncthreads();
    }
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {begin, end};
  }
}

__global__ void sync_pair(Stamp* stamps) {
  for (int pass = 0; pass < 2; ++pass) {
    named_barrier_sync(1, 64);
    const long long begin = clock64();
#pragma unroll
    for (int k = 0; k < kRounds; ++k) named_barrier_sync(1, 64);
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {begin, end};
  }
}

__device__ void named_barrier_arrive(uint32_t id, uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Two warps hand a turn to and fro; a round has two hops.
__global__ void named_hop(Stamp* stamps) {
  const bool first = threadIdx.x < 32;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRounds; ++r) {
      if (first) {
        named_barrier_arrive(1, 64);
        named_barrier_sync(2, 64);
      } else {
        named_barrier_sync(1, 64);
        named_barrier_arrive(2, 64);
      }
    }
    const long long end = clock64();
    if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {begin, end};
  }
}

__global__ void sync_warp(Stamp* stamps) {
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll
    for (int k = 0; k < kRounds; ++k) __syncwarp();
    stamps[0] = {begin, clock64()};
  }
}

__global__ void mbarrier_hop(Stamp* stamps) {
  __shared__ uint64_t turn[2];
  if (threadIdx.x == 0) {
    mbarrier::init(&turn[0], 1);
    mbarrier::init(&turn[1], 1);
  }
  __syncthreads();
  if (threadIdx.x % 32) return;
  const int warp = threadIdx.x / 32;
  uint32_t parity = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRounds; ++r) {
      if (warp == 0) mbarrier::arrive(&turn[0]);
      mbarrier::wait(&turn[warp ^ 1], parity);
      if (warp == 1) mbarrier::arrive(&turn[1]);
      parity ^= 1;
    }
    stamps[warp] = {begin, clock64()};
  }
}

// As kernels do it: the whole warp waits, and one lane arrives for it.
__global__ void mbarrier_warp_hop(Stamp* stamps) {
  __shared__ uint64_t turn[2];
  if (threadIdx.x == 0) {
    mbarrier::init(&turn[0], 1);
    mbarrier::init(&turn[1], 1);
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  uint32_t parity = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < kRounds; ++r) {
      if (warp == 0 && elect_one()) mbarrier::arrive(&turn[0]);
      mbarrier::wait(&turn[warp ^ 1], parity);
      __syncwarp();
      if (warp == 1 && elect_one()) mbarrier::arrive(&turn[1]);
      parity ^= 1;
    }
    stamps[warp] = {begin, clock64()};
  }
}

enum class Mbarrier { kArrive, kArriveToken, kExpectTx, kTryWait, kRoundTrip };

// One thread, straight-line code.
template <Mbarrier kWhat>
__global__ void mbarrier_cost(Stamp* stamps, uint64_t* sink) {
  __shared__ uint64_t barrier;
  mbarrier::init(&barrier, kWhat == Mbarrier::kTryWait || kWhat == Mbarrier::kRoundTrip ? 1 : 1 << 18);
  if (kWhat == Mbarrier::kTryWait) mbarrier::arrive(&barrier);
  uint64_t sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      if (kWhat == Mbarrier::kArrive) mbarrier::arrive(&barrier);
      if (kWhat == Mbarrier::kExpectTx) mbarrier::arrive_expect_tx(&barrier, 16);
      if (kWhat == Mbarrier::kTryWait) mbarrier::wait(&barrier, 0);
      if (kWhat == Mbarrier::kArriveToken) {
        uint64_t token;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
                     : "=l"(token)
                     : "r"(shared_address(&barrier)));
        sum += token;
      }
      if (kWhat == Mbarrier::kRoundTrip) {
        mbarrier::arrive(&barrier);
        mbarrier::wait(&barrier, k & 1);
      }
    }
    stamps[0] = {begin, clock64()};
  }
  sink[0] = sum;
}

__global__ void proxy_fence(Stamp* stamps) {
  __shared__ uint32_t words[32];
  for (int pass = 0; pass < 2; ++pass) {
    const long long begin = clock64();
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address(&words[threadIdx.x])), "r"(k) : "memory");
      fence_proxy_async_shared();
    }
    stamps[0] = {begin, clock64()};
  }
}

}  // namespace

std::vector<Benchmark> barrier_benchmarks(const Target&) {
  std::vector<Benchmark> list;
  for (const int warps : {1, 2, 4, 8, 16, 32}) {
    list.push_back({"barrier.syncthreads_" + std::to_string(warps) + "_warps", "cyc",
                    [=] { return span(stamps_of(sync_threads, warps * 32, 0)) / kRounds; }});
  }
  list.push_back({"barrier.named_pair", "cyc", [] { return span(stamps_of(sync_pair, 64, 0)) / kRounds; }});
  list.push_back(
      {"barrier.named_hop", "cyc", [] { return span(stamps_of(named_hop, 64, 0)) / kRounds / 2; }});
  list.push_back({"barrier.syncwarp", "cyc", [] { return span(stamps_of(sync_warp, 32, 0)) / kRounds; }});
  list.push_back({"mbarrier.hop", "cyc", [] { return span(stamps_of(mbarrier_hop, 64, 0)) / kRounds / 2; }});
  list.push_back(
      {"mbarrier.warp_hop", "cyc", [] { return span(stamps_of(mbarrier_warp_hop, 64, 0)) / kRounds / 2; }});
  const auto cost = [&](const char* name, auto kernel) {
    list.push_back({std::string("mbarrier.") + name, "cyc", [=] {
                      const DeviceArray<uint64_t> sink(1);
                      return span(stamps_of(kernel, 1, 0, sink.data())) / kRounds;
                    }});
  };
  cost("arrive", mbarrier_cost<Mbarrier::kArrive>);
  cost("arrive_token", mbarrier_cost<Mbarrier::kArriveToken>);
  cost("arrive_expect_tx", mbarrier_cost<Mbarrier::kExpectTx>);
  cost("wait_ready", mbarrier_cost<Mbarrier::kTryWait>);
  cost("arrive_and_wait", mbarrier_cost<Mbarrier::kRoundTrip>);
  list.push_back(
      {"fence.store_proxy_async", "cyc", [] { return span(stamps_of(proxy_fence, 32, 0)) / kRounds; }});
  return list;
}

}  // namespace calibrate
