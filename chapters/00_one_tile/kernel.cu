// Chapter 0, one tile: one CTA of 128 threads computes one 128 x 128 tile of scores, S = Q K^T. TMA brings Q
// and K into shared memory in the layout the tensor core reads, eight MMAs accumulate S in tensor memory, the
// threads read it back.
//
//   load Q, K      TMA                     -> qk_ready
//   S = Q K^T      tensor core             -> qk_done
//   S to global    threads, one row each
//
// Letters (a) to (i) in comments are the hand-offs listed in common/mma.cuh.
//
// mbarrier   phases   arrivals a phase                      who waits, first parity
// qk_ready   1        leader's expect_tx + 64 KB of Q, K    all 128 threads, 0
// qk_done    1        leader's commit after S = Q K^T       all 128 threads, 0
//
// Tensor memory, FP32, query row r of the tile in lane r, owned by thread r: columns 0-127 S.
#include <cuda_bf16.h>

#include <cstdint>

#include "barrier.cuh"
#include "descriptor.cuh"
#include "mma.cuh"
#include "tensor_map.h"
#include "tma.cuh"
#include "tmem.cuh"

namespace chapter {
namespace {

// Constants

constexpr int kThreads = 128;
constexpr int BLOCK_M = 128;  // queries a tile
constexpr int BLOCK_N = 128;  // keys a tile
constexpr int HEAD_DIM = 128;
constexpr int MMA_K = 16;  // contraction of one tcgen05.mma, 32 bytes of a BF16 row

constexpr int kTileElements = 128 * 128;
constexpr uint32_t kTileBytes = kTileElements * sizeof(__nv_bfloat16);

// Q and K lie in shared memory as 16 slices, each 8 elements (16 bytes) wide and 128 rows high.
constexpr int kSliceWidth = 8;
constexpr uint32_t kSliceBytes = 128 * 16;

constexpr uint32_t kTmemColumns = 128;
constexpr uint32_t kTmemS = 0;

constexpr uint32_t kQkInstruction = instruction_descriptor(BLOCK_M, BLOCK_N, Major::kK, Major::kK);

// Shared memory

struct SharedStorage {
  alignas(1024) __nv_bfloat16 q_smem[kTileElements];
  alignas(1024) __nv_bfloat16 k_smem[kTileElements];
  uint64_t qk_ready;
  uint64_t qk_done;
  uint32_t tmem_base;
};

// Load

// One 128 x 128 tile, rows `row` to `row` + 127 of the matrix behind `map`, in 16 boxes of 8 columns x 128
// rows. A box lands as 128 rows of 16 bytes, so element (row r, column c) of the tile lies at
// (c / 8) * 2048 + r * 16 + (c % 8) * 2.
__device__ void load_tile(__nv_bfloat16* tile, const CUtensorMap* map, int row, uint64_t* ready) {
  for (int slice = 0; slice < HEAD_DIM / kSliceWidth; ++slice) {
    tma::load_2d(tile + slice * kSliceBytes / sizeof(__nv_bfloat16), map, slice * kSliceWidth, row, ready);
  }
}

// S = Q K^T

// K-major without swizzle: the contraction runs along a row. Eight rows of one slice are 8 * 16 = 128
// contiguous bytes, so the next 8 rows are SBO = 128 away; an instruction's 16 elements span two slices,
// LBO = 2048 apart.
__device__ uint64_t k_major_descriptor(const __nv_bfloat16* tile) {
  return matrix_descriptor(shared_address(tile), kSliceBytes, 8 * 16, Swizzle::kNone);
}

__device__ void issue_qk(uint32_t tmem_s, const __nv_bfloat16* q_smem, const __nv_bfloat16* k_smem) {
  const uint64_t q = k_major_descriptor(q_smem);
  const uint64_t k = k_major_descriptor(k_smem);
  for (int step = 0; step < HEAD_DIM / MMA_K; ++step) {
    const uint32_t offset = step * 2 * kSliceBytes;
    tcgen05::mma_ss(tmem_s, advance(q, offset), advance(k, offset), kQkInstruction, step > 0);
  }
}

// Epilogue

// Row of S, as FP32, to global memory.
__device__ void store_s(uint32_t tmem_s, float* s_row) {
  for (int column = 0; column < BLOCK_N; column += 8) {
    float s[8];
    tmem::load_x8(tmem_s + column, s);
    tmem::wait_load(s);  // (c): S is in registers
    for (int i = 0; i < 8; i += 4) {
      *reinterpret_cast<float4*>(s_row + column + i) = {s[i], s[i + 1], s[i + 2], s[i + 3]};
    }
  }
}

// Kernel

__global__ void __launch_bounds__(kThreads, 1)
    one_tile_kernel(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
                    float* s) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  SharedStorage& shared = *reinterpret_cast<SharedStorage*>(shared_memory);

  const int warp = threadIdx.x / 32;
  const int row = threadIdx.x;
  // One thread issues every copy and every MMA: a commit only covers the MMAs of its own thread.
  const bool leader = warp == 0 && elect_one();

  if (leader) {
    mbarrier::init(&shared.qk_ready, 1);
    mbarrier::init(&shared.qk_done, 1);
    mbarrier::fence_init();  // (i) leader -> TMA and tensor core
  }
  __syncwarp();
  if (warp == 0) {
    tmem::alloc(&shared.tmem_base, kTmemColumns);
    tmem::relinquish_alloc_permit();
  }
  // (i) leader -> everybody who waits; alloc's weak store of tmem_base -> everybody who reads it.
  tcgen05::fence_before_thread_sync();
  __syncthreads();
  tcgen05::fence_after_thread_sync();

  const uint32_t tmem_s = shared.tmem_base + kTmemS;
  const uint32_t lanes = tmem::address(0, warp * 32, 0);  // this warp's quarter

  if (leader) {
    mbarrier::arrive_expect_tx(&shared.qk_ready, 2 * kTileBytes);
    load_tile(shared.q_smem, &q_map, 0, &shared.qk_ready);
    load_tile(shared.k_smem, &k_map, 0, &shared.qk_ready);
  }
  mbarrier::wait(&shared.qk_ready, 0);  // (d) TMA -> leader's QK

  if (leader) {
    tcgen05::fence_after_thread_sync();  // (d)
    issue_qk(tmem_s, shared.q_smem, shared.k_smem);
    tcgen05::commit(&shared.qk_done);  // (c) QK -> everybody's loads of S
  }
  mbarrier::wait(&shared.qk_done, 0);  // (c) QK -> loads of S
  tcgen05::fence_after_thread_sync();  // (c)
  __syncwarp();

  store_s(tmem_s + lanes, s + row * BLOCK_N);

  tcgen05::fence_before_thread_sync();  // everybody's last loads -> dealloc
  __syncthreads();
  if (warp == 0) {
    tcgen05::fence_after_thread_sync();
    tmem::dealloc(shared.tmem_base, kTmemColumns);
  }
}

}  // namespace

// Launch

void launch(const void* q, const void* k, float* s, cudaStream_t stream) {
  const auto map = [](const void* base, int64_t rows) {
    return encode_tensor_map(base, rows, HEAD_DIM, 128, kSliceWidth, CU_TENSOR_MAP_SWIZZLE_NONE);
  };
  const CUtensorMap q_map = map(q, BLOCK_M);
  const CUtensorMap k_map = map(k, BLOCK_N);

  check_cuda(cudaFuncSetAttribute(one_tile_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(SharedStorage)),
             "asking for shared memory");
  one_tile_kernel<<<1, kThreads, sizeof(SharedStorage), stream>>>(q_map, k_map, s);
}

}  // namespace chapter
