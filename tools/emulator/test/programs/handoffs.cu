// Removes one hand-off at a time from a small tcgen05 kernel, to see that the emulator does not forgive it.
//
//   S = A B^T            A, B by TMA, one commit
//   P = S / 64           as BF16, through shared memory or through tensor memory
//   O = P B              B as MN-major operand
//
// Usage: handoffs {none | tma_wait | commit_wait | proxy_fence | wait_st | wait_ld}. Prints how many elements
// of O are wrong.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "barrier.cuh"
#include "descriptor.cuh"
#include "math.cuh"
#include "mma.cuh"
#include "tensor_map.h"
#include "tma.cuh"
#include "tmem.cuh"

namespace {

enum class Omit { kNone, kTmaWait, kCommitWait, kProxyFence, kWaitStore, kWaitLoad };

constexpr int kRows = 128;
constexpr int kDepth = 64;  // elements of a row of A and B: one SW128 row

struct SharedStorage {
  alignas(1024) __nv_bfloat16 a[kRows * kDepth];
  alignas(1024) __nv_bfloat16 b[kRows * kDepth];
  alignas(1024) __nv_bfloat16 p[kRows * kRows];  // sixteen slices of 8 columns
  uint64_t loaded;
  uint64_t multiplied;
  uint32_t tmem;
};

// Eight columns of S without waiting for the registers when Omit says so.
template <Omit kOmit>
__device__ void load_scores(uint32_t address, float (&s)[8]) {
  tmem::load_x8(address, s);
  if constexpr (kOmit != Omit::kWaitLoad) tmem::wait_load(s);
}

template <Omit kOmit>
__global__ void __launch_bounds__(128, 1)
    handoffs(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, float* o) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedStorage*>(memory);
  const int row = threadIdx.x;
  const bool leader = threadIdx.x == 0;
  constexpr bool kThroughTmem = kOmit == Omit::kWaitStore;

  if (leader) {
    mbarrier::init(&shared.loaded, 1);
    mbarrier::init(&shared.multiplied, 1);
    mbarrier::fence_init();
  }
  __syncwarp();
  if (threadIdx.x < 32) tmem::alloc(&shared.tmem, 256);
  tcgen05::fence_before_thread_sync();
  __syncthreads();
  tcgen05::fence_after_thread_sync();
  const uint32_t s_address = shared.tmem;
  const uint32_t o_address = shared.tmem + 128;
  const uint32_t lanes = (threadIdx.x / 32) * 32 << 16;

  if (leader) {
    mbarrier::arrive_expect_tx(&shared.loaded, 2 * kRows * kDepth * 2);
    tma::load_2d(shared.a, &a_map, 0, 0, &shared.loaded);
    tma::load_2d(shared.b, &b_map, 0, 0, &shared.loaded);
  }
  if constexpr (kOmit != Omit::kTmaWait) mbarrier::wait(&shared.loaded, 0);
  if (leader) {
    tcgen05::fence_after_thread_sync();
    const uint64_t a = matrix_descriptor(shared_address(shared.a), 16, 1024, Swizzle::k128B);
    const uint64_t b = matrix_descriptor(shared_address(shared.b), 16, 1024, Swizzle::k128B);
    for (int k = 0; k < kDepth / 16; ++k) {
      tcgen05::mma_ss(s_address, advance(a, k * 32), advance(b, k * 32),
                      instruction_descriptor(kRows, kRows, Major::kK, Major::kK), k > 0);
    }
    tcgen05::commit(&shared.multiplied);
  }
  if constexpr (kOmit != Omit::kCommitWait) mbarrier::wait(&shared.multiplied, 0);
  tcgen05::fence_after_thread_sync();
  __syncwarp();

  for (int column = 0; column < kRows; column += 8) {
    float s[8];
    load_scores<kOmit>(s_address + lanes + column, s);
    for (float& value : s) value *= 1.0f / 64;
    if constexpr (kThroughTmem) {
      const uint32_t packed[8] = {pack_bf16x2(s[0], s[1]), pack_bf16x2(s[2], s[3]), pack_bf16x2(s[4], s[5]),
                                  pack_bf16x2(s[6], s[7])};
      asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1, %2, %3, %4};" ::"r"(s_address + lanes +
                                                                                         column / 2),
                   "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3])
                   : "memory");
    } else {
      reinterpret_cast<uint4*>(shared.p)[column / 8 * kRows + row] = pack_bf16x8(s);
    }
  }
  if constexpr (kOmit != Omit::kProxyFence) fence_proxy_async_shared();
  if constexpr (kOmit != Omit::kWaitStore) tmem::wait_store();
  tcgen05::fence_before_thread_sync();
  __syncthreads();
  if (leader) {
    tcgen05::fence_after_thread_sync();
    if constexpr (kOmit == Omit::kTmaWait || kOmit == Omit::kCommitWait) mbarrier::wait(&shared.loaded, 0);
    const uint64_t p = matrix_descriptor(shared_address(shared.p), 2048, 128, Swizzle::kNone);
    const uint64_t b = matrix_descriptor(shared_address(shared.b), 16, 1024, Swizzle::k128B);
    for (int k = 0; k < kRows / 16; ++k) {
      const uint32_t idesc = instruction_descriptor(kRows, kDepth, Major::kK, Major::kMN);
      if constexpr (kThroughTmem) {
        tcgen05::mma_ts(o_address, s_address + k * 8, advance(b, k * 2048), idesc, k > 0);
      } else {
        tcgen05::mma_ss(o_address, advance(p, k * 4096), advance(b, k * 2048), idesc, k > 0);
      }
    }
    tcgen05::commit(&shared.multiplied);
  }
  if constexpr (kOmit == Omit::kCommitWait) mbarrier::wait(&shared.multiplied, 0);
  mbarrier::wait(&shared.multiplied, 1);
  tcgen05::fence_after_thread_sync();
  __syncwarp();
  for (int column = 0; column < kDepth; column += 8) {
    float out[8];
    tmem::load_x8(o_address + lanes + column, out);
    tmem::wait_load(out);
    for (int i = 0; i < 8; ++i) o[row * kDepth + column + i] = out[i];
  }
  tcgen05::fence_before_thread_sync();
  __syncthreads();
  if (threadIdx.x < 32) tmem::dealloc(shared.tmem, 256);
}

template <Omit kOmit>
void launch(const CUtensorMap& a, const CUtensorMap& b, float* o) {
  check_cuda(cudaFuncSetAttribute(handoffs<kOmit>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(SharedStorage)),
             "asking for shared memory");
  handoffs<kOmit><<<1, 128, sizeof(SharedStorage)>>>(a, b, o);
}

}  // namespace

int main(int argc, char** argv) {
  const char* omit = argc > 1 ? argv[1] : "none";
  std::vector<__nv_bfloat16> a(kRows * kDepth), b(kRows * kDepth);
  std::vector<float> a_values(a.size()), b_values(b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a_values[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
    b_values[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
    a[i] = __float2bfloat16(a_values[i]);
    b[i] = __float2bfloat16(b_values[i]);
  }
  __nv_bfloat16 *a_device = nullptr, *b_device = nullptr;
  float* o_device = nullptr;
  cudaMalloc(&a_device, a.size() * 2);
  cudaMalloc(&b_device, b.size() * 2);
  cudaMalloc(&o_device, kRows * kDepth * sizeof(float));
  cudaMemcpy(a_device, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(b_device, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  const CUtensorMap a_map =
      encode_tensor_map(a_device, kRows, kDepth, kRows, kDepth, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap b_map =
      encode_tensor_map(b_device, kRows, kDepth, kRows, kDepth, CU_TENSOR_MAP_SWIZZLE_128B);
  if (!std::strcmp(omit, "none")) {
    launch<Omit::kNone>(a_map, b_map, o_device);
  } else if (!std::strcmp(omit, "tma_wait")) {
    launch<Omit::kTmaWait>(a_map, b_map, o_device);
  } else if (!std::strcmp(omit, "commit_wait")) {
    launch<Omit::kCommitWait>(a_map, b_map, o_device);
  } else if (!std::strcmp(omit, "proxy_fence")) {
    launch<Omit::kProxyFence>(a_map, b_map, o_device);
  } else if (!std::strcmp(omit, "wait_st")) {
    launch<Omit::kWaitStore>(a_map, b_map, o_device);
  } else if (!std::strcmp(omit, "wait_ld")) {
    launch<Omit::kWaitLoad>(a_map, b_map, o_device);
  } else {
    std::printf("unknown hand-off %s\n", omit);
    return 2;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::printf("launch failed: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::vector<float> o(kRows * kDepth);
  cudaMemcpy(o.data(), o_device, o.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int m = 0; m < kRows; ++m) {
    double p[kRows];
    for (int n = 0; n < kRows; ++n) {
      double s = 0;
      for (int k = 0; k < kDepth; ++k) s += double{a_values[m * kDepth + k]} * b_values[n * kDepth + k];
      p[n] = __bfloat162float(__float2bfloat16(static_cast<float>(s / 64)));
    }
    for (int d = 0; d < kDepth; ++d) {
      double want = 0;
      for (int n = 0; n < kRows; ++n) want += p[n] * b_values[n * kDepth + d];
      if (!(std::fabs(o[m * kDepth + d] - want) <= 1e-2 + 1e-3 * std::fabs(want))) ++wrong;
    }
  }
  std::printf("%s omitted: %d of %d elements wrong\n", omit, wrong, kRows * kDepth);
  return wrong ? 1 : 0;
}
