// Chapter 3, swizzle: Q, K and V lie in shared memory with the 128-byte swizzle, which spreads the eight
// 16-byte chunks of a column over all banks; TMA writes it and the tensor core reads it, so only maps and
// descriptors change.
//
//   load Q
//   for each tile i of 128 keys:
//     load K(i), V(i)        TMA                     -> kv_ready
//     S = Q K(i)^T           tensor core             -> qk_done
//     P = exp(S - row max)   threads, one row each   -> __syncthreads
//     O += P V(i)            tensor core             -> pv_done
//   O / row sum              threads
//
// Letters (a) to (i) in comments are the hand-offs listed in common/mma.cuh.
//
// mbarrier   phases   arrivals a phase                      who waits, first parity
// q_ready    1        leader's expect_tx + 32 KB of Q       all 128 threads, 0
// kv_ready   a tile   leader's expect_tx + 64 KB of K, V    all 128 threads, 0
// qk_done    a tile   leader's commit after S = Q K^T       all 128 threads, 0
// pv_done    a tile   leader's commit after O += P V        all 128 threads, 0
// Phase i of the last three belongs to tile i, so its parity is i & 1.
//
// Tensor memory, FP32, query row r of the tile in lane r, owned by thread r: columns 0-127 S, 128-255 O.
// From softmax to pv_done columns 0-63 hold P, two BF16 a column; 64-127 then hold scores nobody reads again.
#include <cuda_bf16.h>

#include <cmath>
#include <cstdint>

#include "barrier.cuh"
#include "descriptor.cuh"
#include "harness/problem.h"
#include "math.cuh"
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

// Q, K and V lie in shared memory as 2 slices, each 64 elements (128 bytes) wide and 128 rows high, made of
// swizzle atoms of 8 rows x 128 bytes that start at multiples of 1024.
constexpr int kSliceWidth = 64;
constexpr uint32_t kSliceBytes = 128 * 128;
constexpr int kStepsPerSlice = kSliceWidth / MMA_K;

constexpr uint32_t kTmemColumns = 256;
constexpr uint32_t kTmemS = 0;
constexpr uint32_t kTmemP = 0;  // over S
constexpr uint32_t kTmemO = 128;

constexpr uint32_t kQkInstruction = instruction_descriptor(BLOCK_M, BLOCK_N, Major::kK, Major::kK);
constexpr uint32_t kPvInstruction = instruction_descriptor(BLOCK_M, HEAD_DIM, Major::kK, Major::kMN);

// Shared memory

struct SharedStorage {
  alignas(1024) __nv_bfloat16 q_smem[kTileElements];
  alignas(1024) __nv_bfloat16 k_smem[kTileElements];
  alignas(1024) __nv_bfloat16 v_smem[kTileElements];
  uint64_t q_ready;
  uint64_t kv_ready;
  uint64_t qk_done;
  uint64_t pv_done;
  uint32_t tmem_base;
};

// More than half of an SM's 228 KB, so that one CTA has the SM to itself, as the later chapters' CTAs must.
// Two would overlap by chance what those chapters overlap by design.
constexpr uint32_t kSharedBytes = 120 * 1024;
static_assert(sizeof(SharedStorage) <= kSharedBytes);

// Load

// One 128 x 128 tile, rows `row` to `row` + 127 of the matrix behind `map`, in 2 boxes of 64 columns x 128
// rows. A box lands as 128 rows of 128 bytes in which 16-byte chunk c of row r sits at place c ^ (r % 8).
__device__ void load_tile(__nv_bfloat16* tile, const CUtensorMap* map, int row, uint64_t* ready) {
  for (int slice = 0; slice < HEAD_DIM / kSliceWidth; ++slice) {
    tma::load_2d(tile + slice * kSliceBytes / sizeof(__nv_bfloat16), map, slice * kSliceWidth, row, ready);
  }
}

// S = Q K^T

// K-major with the 128-byte swizzle: the contraction runs along a row. Eight rows are one atom of 8 * 128
// bytes, so the next 8 rows are SBO = 1024 away; an instruction's 32 bytes lie inside an atom, so LBO has
// nothing to stride.
__device__ uint64_t k_major_descriptor(const __nv_bfloat16* tile) {
  return matrix_descriptor(shared_address(tile), 16, 8 * 128, Swizzle::k128B);
}

__device__ void issue_qk(uint32_t tmem_s, const __nv_bfloat16* q_smem, const __nv_bfloat16* k_smem) {
  const uint64_t q = k_major_descriptor(q_smem);
  const uint64_t k = k_major_descriptor(k_smem);
  for (int step = 0; step < HEAD_DIM / MMA_K; ++step) {
    // Four steps of 32 bytes cross a slice. The hardware applies the swizzle to the address after this
    // offset.
    const uint32_t offset = step / kStepsPerSlice * kSliceBytes + step % kStepsPerSlice * 32;
    tcgen05::mma_ss(tmem_s, advance(q, offset), advance(k, offset), kQkInstruction, step > 0);
  }
}

// Softmax

// What a thread carries from tile to tile for its row.
struct RowState {
  float max = -INFINITY;  // of the scaled scores so far
  float sum = 0.0f;       // of exp(score - max)
};

// First pass over S: the row's maximum over this tile, not yet scaled.
__device__ float row_max(uint32_t tmem_s) {
  float max = -INFINITY;
  for (int column = 0; column < BLOCK_N; column += 8) {
    float s[8];
    tmem::load_x8(tmem_s + column, s);
    tmem::wait_load(s);  // (c) and (f): S is in registers
    for (int i = 0; i < 8; ++i) max = fmaxf(max, s[i]);
  }
  return max;
}

// O *= factor, in tensor memory.
__device__ void rescale_o(uint32_t tmem_o, float factor) {
  for (int column = 0; column < HEAD_DIM; column += 8) {
    float o[8];
    tmem::load_x8(tmem_o + column, o);
    tmem::wait_load(o);  // the load has read the columns that the store overwrites
    for (int i = 0; i < 8; ++i) o[i] *= factor;
    tmem::store_x8(tmem_o + column, o);
  }
}

// Second pass over S: P = exp(S * scale - max) as BF16, two a column, over scores already read; returns the
// row's sum over this tile. Reading 16 columns for every 8 written, the loads stay ahead of the stores.
__device__ float write_p(uint32_t tmem_s, uint32_t tmem_p, float scale, float max) {
  float sum = 0.0f;
  for (int column = 0; column < BLOCK_N; column += 16) {
    uint32_t p[8];
    for (int half = 0; half < 2; ++half) {
      float s[8];
      tmem::load_x8(tmem_s + column + half * 8, s);
      tmem::wait_load(s);  // (c): S is in registers, so the store below may overwrite it
      for (int i = 0; i < 8; ++i) s[i] = __expf(s[i] * scale - max);
      for (int i = 0; i < 8; ++i) sum += s[i];
      for (int i = 0; i < 4; ++i) p[half * 4 + i] = pack_bf16x2(s[2 * i], s[2 * i + 1]);
    }
    tmem::store_x8(tmem_p + column / 2, p);
  }
  return sum;
}

// One tile of online softmax for this thread's row: new maximum, O and sum corrected to it, P written.
__device__ void softmax(RowState& state, uint32_t tmem_s, uint32_t tmem_p, uint32_t tmem_o, float scale,
                        bool first_tile) {
  const float max = fmaxf(state.max, row_max(tmem_s) * scale);
  const float factor = __expf(state.max - max);  // 0 for the first tile, where state.max is -infinity
  if (!first_tile) rescale_o(tmem_o, factor);    // O does not exist before the first PV
  state.sum = state.sum * factor + write_p(tmem_s, tmem_p, scale, max);
  state.max = max;
}

// O += P V

// V is stored [key][d], but as operand B of P V its contraction runs over keys: N (= d) is contiguous,
// MN-major. With the 128-byte swizzle the offsets trade places: the next 64 values of d, one slice on, are
// LBO = 16384 away, and the next 8 keys, one atom on, SBO = 1024. An instruction takes 16 keys = 2048 bytes.
// P lies in tensor memory as operand A must: row in its lane, 16 keys in 8 columns.
__device__ void issue_pv(uint32_t tmem_o, uint32_t tmem_p, const __nv_bfloat16* v_smem, bool first_tile) {
  const uint64_t v = matrix_descriptor(shared_address(v_smem), kSliceBytes, 8 * 128, Swizzle::k128B);
  for (int step = 0; step < BLOCK_N / MMA_K; ++step) {
    tcgen05::mma_ts(tmem_o, tmem_p + step * MMA_K / 2, advance(v, step * MMA_K * 128), kPvInstruction,
                    !first_tile || step > 0);
  }
}

// Epilogue

// Row of O / sum, as BF16, to global memory.
__device__ void store_o(uint32_t tmem_o, __nv_bfloat16* o_row, float sum) {
  const float normaliser = 1.0f / sum;
  for (int column = 0; column < HEAD_DIM; column += 8) {
    float o[8];
    tmem::load_x8(tmem_o + column, o);
    tmem::wait_load(o);  // (c): O is in registers
    for (int i = 0; i < 8; ++i) o[i] *= normaliser;
    *reinterpret_cast<uint4*>(o_row + column) = pack_bf16x8(o);
  }
}

// Kernel

__global__ void __launch_bounds__(kThreads, 1)
    attention_kernel(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
                     const __grid_constant__ CUtensorMap v_map, __nv_bfloat16* o, int query_length,
                     int key_length, float scale) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  SharedStorage& shared = *reinterpret_cast<SharedStorage*>(shared_memory);

  const int warp = threadIdx.x / 32;
  const int row = threadIdx.x;
  const int query_row = blockIdx.y * query_length + blockIdx.x * BLOCK_M;
  const int key_row = blockIdx.y * key_length;
  const int tiles = key_length / BLOCK_N;
  // One thread issues every copy and every MMA: a commit only covers the MMAs of its own thread.
  const bool leader = warp == 0 && elect_one();

  if (leader) {
    mbarrier::init(&shared.q_ready, 1);
    mbarrier::init(&shared.kv_ready, 1);
    mbarrier::init(&shared.qk_done, 1);
    mbarrier::init(&shared.pv_done, 1);
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
  const uint32_t tmem_p = shared.tmem_base + kTmemP;
  const uint32_t tmem_o = shared.tmem_base + kTmemO;
  const uint32_t lanes = tmem::address(0, warp * 32, 0);  // this warp's quarter
  RowState state;

  if (leader) {
    mbarrier::arrive_expect_tx(&shared.q_ready, kTileBytes);
    load_tile(shared.q_smem, &q_map, query_row, &shared.q_ready);
  }
  mbarrier::wait(&shared.q_ready, 0);  // (d) TMA -> leader's QK

  for (int i = 0; i < tiles; ++i) {
    const uint32_t parity = i & 1;

    if (leader) {
      // (e) PV(i-1) -> TMA: the wait for pv_done below freed k_smem and v_smem.
      mbarrier::arrive_expect_tx(&shared.kv_ready, 2 * kTileBytes);
      load_tile(shared.k_smem, &k_map, key_row + i * BLOCK_N, &shared.kv_ready);
      load_tile(shared.v_smem, &v_map, key_row + i * BLOCK_N, &shared.kv_ready);
    }
    mbarrier::wait(&shared.kv_ready, parity);  // (d) TMA -> leader's QK and PV

    if (leader) {
      tcgen05::fence_after_thread_sync();  // (d) after the wait on q_ready and kv_ready
      issue_qk(tmem_s, shared.q_smem, shared.k_smem);
      tcgen05::commit(&shared.qk_done);  // (c) QK -> everybody's loads of S
    }
    mbarrier::wait(&shared.qk_done, parity);  // (c) QK -> loads of S
    tcgen05::fence_after_thread_sync();       // (c)
    __syncwarp();

    softmax(state, tmem_s + lanes, tmem_p + lanes, tmem_o + lanes, scale, i == 0);
    tmem::wait_store();                   // (b) P and O -> leader's PV
    tcgen05::fence_before_thread_sync();  // (b), (f) loads of S -> leader's next QK
    __syncthreads();                      // (b), (f) everybody -> leader

    if (leader) {
      tcgen05::fence_after_thread_sync();  // (b), (f)
      issue_pv(tmem_o, tmem_p, shared.v_smem, i == 0);
      tcgen05::commit(&shared.pv_done);  // (c) PV -> everybody's loads of O, (e) PV -> leader's next loads
    }
    mbarrier::wait(&shared.pv_done, parity);  // (c) PV -> loads of O, (e) V is read
    tcgen05::fence_after_thread_sync();       // (c)
    __syncwarp();
  }

  store_o(tmem_o + lanes, o + static_cast<int64_t>(query_row + row) * HEAD_DIM, state.sum);

  tcgen05::fence_before_thread_sync();  // everybody's last loads -> dealloc
  __syncthreads();
  if (warp == 0) {
    tcgen05::fence_after_thread_sync();
    tmem::dealloc(shared.tmem_base, kTmemColumns);
  }
}

}  // namespace

// Launch

void launch(const harness::Problem& problem, const void* q, const void* k, const void* v, void* o,
            cudaStream_t stream) {
  const auto map = [](const void* base, int64_t rows) {
    return encode_tensor_map(base, rows, HEAD_DIM, 128, kSliceWidth, CU_TENSOR_MAP_SWIZZLE_128B);
  };
  const CUtensorMap q_map = map(q, problem.query_rows());
  const CUtensorMap k_map = map(k, problem.key_rows());
  const CUtensorMap v_map = map(v, problem.key_rows());
  const float scale = 1.0f / std::sqrt(static_cast<float>(HEAD_DIM));
  const dim3 grid(problem.query_length / BLOCK_M, problem.batch * problem.heads);

  check_cuda(
      cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
      "asking for shared memory");
  attention_kernel<<<grid, kThreads, kSharedBytes, stream>>>(
      q_map, k_map, v_map, static_cast<__nv_bfloat16*>(o), problem.query_length, problem.key_length, scale);
}

}  // namespace chapter
