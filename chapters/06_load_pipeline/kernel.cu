// Chapter 6, load pipeline: K and V are tokens K(0), V(0), K(1), V(1)... that pass one at a time through a
// ring of three tiles of shared memory. Token t lies in slot t % 3 and is loaded as soon as the MMAs that
// read token t - 3 are done.
//
//   load warp (8)                  load Q0, Q1
//                                  each token:   load K(i) or V(i)                    -> kv_ready[slot]
//   MMA warp (9)                   each tile i:  S0 = Q0 K(i)^T, then S1 = Q1 K(i)^T  -> qk_done[q]
//                                                O0 += P0 V(i), then O1 += P1 V(i)    -> pv_done[q]
//                                                the second MMA of a token is done    -> kv_free[slot]
//   row warps (0-3 q = 0, 4-7 q = 1)
//                                  each tile i:  Pq = exp(Sq - row max), Oq rescaled  -> softmax_done[q]
//                                  at the end:   Oq / row sum
//
// Letters (a) to (i) in comments are the hand-offs listed in common/mma.cuh.
//
// mbarrier          phases   arrivals a phase                           who waits, first parity
// q_ready           1        load warp's expect_tx + 64 KB of Q0, Q1    MMA warp, 0
// kv_ready[slot]    a token  load warp's expect_tx + 32 KB of K or V    MMA warp, 0
// kv_free[slot]     a token  MMA warp's commit after Q1K or P1V         load warp from token 3, 0
// qk_done[q]        a tile   MMA warp's commit after Sq = Qq K^T        row warps of q, 0
// softmax_done[q]   a tile   4, one from each row warp of q             MMA warp, 0
// pv_done[q]        a tile   MMA warp's commit after Oq += Pq V         row warps of q, MMA warp, 0
// Phase i of the last three belongs to tile i, so its parity is i & 1; phase n of a slot belongs to token
// 3 n + slot. One elected thread acts for the load warp, and one for the MMA warp.
//
// Tensor memory, FP32, query row r of a tile in lane r: columns 0-127 S0, 128-255 S1, 256-383 O0, 384-511 O1.
// From softmax to pv_done[q] the first 64 columns of Sq hold Pq, two BF16 a column; the other 64 then hold
// scores nobody reads again.
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

constexpr int kQTiles = 2;
constexpr int kRowWarps = 4;  // of a query tile: warp w reaches lanes 32 (w % 4) to 32 (w % 4) + 31
constexpr int kKvSlots = 3;
constexpr int kLoadWarp = 8;
constexpr int kMmaWarp = 9;
constexpr int kThreads = 10 * 32;
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

constexpr uint32_t kTmemColumns = 512;
constexpr uint32_t kTmemS = 0;
constexpr uint32_t kTmemP = 0;  // over S
constexpr uint32_t kTmemO = 256;
constexpr uint32_t kTmemQTile = 128;  // from S0 to S1, from O0 to O1

constexpr uint32_t kQkInstruction = instruction_descriptor(BLOCK_M, BLOCK_N, Major::kK, Major::kK);
constexpr uint32_t kPvInstruction = instruction_descriptor(BLOCK_M, HEAD_DIM, Major::kK, Major::kMN);

// Shared memory

struct SharedStorage {
  alignas(1024) __nv_bfloat16 q_smem[kQTiles][kTileElements];
  alignas(1024) __nv_bfloat16 kv_smem[kKvSlots][kTileElements];
  uint64_t q_ready;
  uint64_t kv_ready[kKvSlots];
  uint64_t kv_free[kKvSlots];
  uint64_t qk_done[kQTiles];
  uint64_t softmax_done[kQTiles];
  uint64_t pv_done[kQTiles];
  uint32_t tmem_base;
};

constexpr uint32_t kSharedBytes = sizeof(SharedStorage);  // one CTA per SM

// Load

// One 128 x 128 tile, rows `row` to `row` + 127 of the matrix behind `map`, in 2 boxes of 64 columns x 128
// rows. A box lands as 128 rows of 128 bytes in which 16-byte chunk c of row r sits at place c ^ (r % 8).
__device__ void load_tile(__nv_bfloat16* tile, const CUtensorMap* map, int row, uint64_t* ready) {
  for (int slice = 0; slice < HEAD_DIM / kSliceWidth; ++slice) {
    tma::load_2d(tile + slice * kSliceBytes / sizeof(__nv_bfloat16), map, slice * kSliceWidth, row, ready);
  }
}

// The load warp, one thread of it.
__device__ void load_loop(SharedStorage& shared, const CUtensorMap* q_map, const CUtensorMap* k_map,
                          const CUtensorMap* v_map, int query_row, int key_row, int tiles) {
  mbarrier::arrive_expect_tx(&shared.q_ready, kQTiles * kTileBytes);
  for (int q = 0; q < kQTiles; ++q) {
    load_tile(shared.q_smem[q], q_map, query_row + q * BLOCK_M, &shared.q_ready);
  }

  const int tokens = 2 * tiles;  // token 2 i is K(i), token 2 i + 1 is V(i)
  for (int token = 0; token < tokens + kKvSlots; ++token) {
    const int slot = token % kKvSlots;
    // (e) last MMA that reads token - 3, MMA warp -> TMA. The last three turns only wait, so that no commit
    // is still on its way to a barrier when the CTA ends.
    if (token >= kKvSlots) mbarrier::wait(&shared.kv_free[slot], (token / kKvSlots - 1) & 1);
    if (token >= tokens) continue;
    mbarrier::arrive_expect_tx(&shared.kv_ready[slot], kTileBytes);
    load_tile(shared.kv_smem[slot], token % 2 == 0 ? k_map : v_map, key_row + token / 2 * BLOCK_N,
              &shared.kv_ready[slot]);
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

// QqK(i) with the hand-offs around it. `tmem_q` is where the columns of query tile q start.
__device__ void qk_step(SharedStorage& shared, uint32_t tmem_q, int q, int i) {
  const int slot = 2 * i % kKvSlots;
  mbarrier::wait(&shared.kv_ready[slot], 2 * i / kKvSlots & 1);  // (d) TMA, load warp -> QK
  if (i > 0) mbarrier::wait(&shared.pv_done[q], (i - 1) & 1);    // PqV(i-1) has read Pq, under Sq
  tcgen05::fence_after_thread_sync();                            // (d), and the MMA before this one
  issue_qk(tmem_q + kTmemS, shared.q_smem[q], shared.kv_smem[slot]);
  tcgen05::commit(&shared.qk_done[q]);                           // (c) QqK(i) -> row warps' loads of Sq
  if (q == kQTiles - 1) tcgen05::commit(&shared.kv_free[slot]);  // (e) Q1K(i) -> load warp
}

// PqV(i) with the hand-offs around it.
__device__ void pv_step(SharedStorage& shared, uint32_t tmem_q, int q, int i) {
  const int slot = (2 * i + 1) % kKvSlots;
  mbarrier::wait(&shared.kv_ready[slot], (2 * i + 1) / kKvSlots & 1);  // (d) TMA, load warp -> PV
  mbarrier::wait(&shared.softmax_done[q], i & 1);  // (b) Pq and Oq, (f) Sq: row warps -> PqV and the next QqK
  tcgen05::fence_after_thread_sync();              // (b), (d), (f)
  issue_pv(tmem_q + kTmemO, tmem_q + kTmemP, shared.kv_smem[slot], i == 0);
  tcgen05::commit(&shared.pv_done[q]);                           // (c) PqV(i) -> row warps' loads of Oq
  if (q == kQTiles - 1) tcgen05::commit(&shared.kv_free[slot]);  // (e) P1V(i) -> load warp
}

// The MMA warp, one thread of it: a commit only covers the MMAs of its own thread.
__device__ void mma_loop(SharedStorage& shared, int tiles) {
  const uint32_t tmem = shared.tmem_base;
  mbarrier::wait(&shared.q_ready, 0);  // (d) TMA, load warp -> QK
  for (int i = 0; i < tiles; ++i) {
    for (int q = 0; q < kQTiles; ++q) qk_step(shared, tmem + q * kTmemQTile, q, i);
    for (int q = 0; q < kQTiles; ++q) pv_step(shared, tmem + q * kTmemQTile, q, i);
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

// A row warp, all 32 threads: one query row each.
__device__ void row_loop(SharedStorage& shared, __nv_bfloat16* o, int query_row, int tiles, float scale) {
  const int q = threadIdx.x / BLOCK_M;
  const int row = threadIdx.x % BLOCK_M;
  // This warp's quarter, and this query tile's columns.
  const uint32_t lanes = tmem::address(shared.tmem_base, row / 32 * 32, q * kTmemQTile);
  RowState state;

  for (int i = 0; i < tiles; ++i) {
    const uint32_t parity = i & 1;
    mbarrier::wait(&shared.qk_done[q], parity);  // (c) QqK(i), MMA warp -> loads of Sq
    tcgen05::fence_after_thread_sync();          // (c)
    __syncwarp();

    softmax(state, lanes + kTmemS, lanes + kTmemP, lanes + kTmemO, scale, i == 0);
    tmem::wait_store();                   // (b) Pq and Oq -> PqV(i)
    tcgen05::fence_before_thread_sync();  // (b), (f) loads of Sq -> QqK(i+1)
    __syncwarp();                         // the warp's 32 rows -> the lane that arrives
    if (elect_one()) mbarrier::arrive(&shared.softmax_done[q]);  // (b), (f) row warp -> MMA warp

    mbarrier::wait(&shared.pv_done[q], parity);  // (c) PqV(i), MMA warp -> loads of Oq
    tcgen05::fence_after_thread_sync();          // (c)
    __syncwarp();
  }

  store_o(lanes + kTmemO, o + static_cast<int64_t>(query_row + q * BLOCK_M + row) * HEAD_DIM, state.sum);
}

// Kernel

__global__ void __launch_bounds__(kThreads, 1)
    attention_kernel(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
                     const __grid_constant__ CUtensorMap v_map, __nv_bfloat16* o, int query_length,
                     int key_length, float scale) {
  extern __shared__ __align__(1024) unsigned char shared_memory[];
  SharedStorage& shared = *reinterpret_cast<SharedStorage*>(shared_memory);

  const int warp = threadIdx.x / 32;
  const int query_row = blockIdx.y * query_length + blockIdx.x * kQTiles * BLOCK_M;
  const int key_row = blockIdx.y * key_length;
  const int tiles = key_length / BLOCK_N;

  if (warp == 0 && elect_one()) {
    mbarrier::init(&shared.q_ready, 1);
    for (int slot = 0; slot < kKvSlots; ++slot) {
      mbarrier::init(&shared.kv_ready[slot], 1);
      mbarrier::init(&shared.kv_free[slot], 1);
    }
    for (int q = 0; q < kQTiles; ++q) {
      mbarrier::init(&shared.qk_done[q], 1);
      mbarrier::init(&shared.softmax_done[q], kRowWarps);
      mbarrier::init(&shared.pv_done[q], 1);
    }
    mbarrier::fence_init();  // (i) this thread -> TMA and tensor core
  }
  __syncwarp();
  if (warp == 0) {
    tmem::alloc(&shared.tmem_base, kTmemColumns);
    tmem::relinquish_alloc_permit();
  }
  // (i) this thread -> everybody who waits; alloc's weak store of tmem_base -> everybody who reads it.
  tcgen05::fence_before_thread_sync();
  __syncthreads();
  tcgen05::fence_after_thread_sync();

  if (warp == kLoadWarp) {
    if (elect_one()) load_loop(shared, &q_map, &k_map, &v_map, query_row, key_row, tiles);
  } else if (warp == kMmaWarp) {
    if (elect_one()) mma_loop(shared, tiles);
  } else {
    row_loop(shared, o, query_row, tiles, scale);
  }
  __syncwarp();

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
  const dim3 grid(problem.query_length / (kQTiles * BLOCK_M), problem.batch * problem.heads);

  check_cuda(
      cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
      "asking for shared memory");
  attention_kernel<<<grid, kThreads, kSharedBytes, stream>>>(
      q_map, k_map, v_map, static_cast<__nv_bfloat16*>(o), problem.query_length, problem.key_length, scale);
}

}  // namespace chapter
