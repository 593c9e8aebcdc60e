// The operations that need more of the machine than a warp's registers: control flow, memory, barriers and
// the asynchronous units. One row each: enumerator, exec function, whether the lanes of a warp must meet
// first.
#pragma once

#include <cstdint>

namespace emu::gpu {

// X(enumerator, function suffix): Processor::exec_<suffix> carries it out.
#define EMU_GPU_OPS(X)                    \
  X(Nop, nop)                             \
  X(Unsupported, unsupported)             \
  X(Branch, branch)                       \
  X(BranchTable, branch_table)            \
  X(Call, call)                           \
  X(Return, ret)                          \
  X(Exit, exit)                           \
  X(Trap, trap)                           \
  X(Breakpoint, breakpoint)               \
  X(Barrier, barrier)                     \
  X(BarrierWarp, barrier_warp)            \
  X(ClusterArrive, cluster_arrive)        \
  X(ClusterWait, cluster_wait)            \
  X(SetMaxRegisters, set_max_registers)   \
  X(Nanosleep, nanosleep)                 \
  X(GridDependency, grid_dependency)      \
  X(Clock, clock)                         \
  X(ExplicitCluster, explicit_cluster)    \
  X(Alloca, alloca)                       \
  X(MoveAddress, move_address)            \
  X(ConvertAddress, convert_address)      \
  X(IsSpace, is_space)                    \
  X(MapShared, map_shared)                \
  X(CtaRank, cta_rank)                    \
  X(Load, load)                           \
  X(Store, store)                         \
  X(Atomic, atomic)                       \
  X(LoadMatrix, load_matrix)              \
  X(StoreMatrix, store_matrix)            \
  X(WmmaLoad, wmma_load)                  \
  X(WmmaStore, wmma_store)                \
  X(CreatePolicy, create_policy)          \
  X(StoreBulk, store_bulk)                \
  X(StoreAsync, store_async)              \
  X(CopyAsync, copy_async)                \
  X(CopyAsyncCommit, copy_async_commit)   \
  X(CopyAsyncWait, copy_async_wait)       \
  X(CopyAsyncArrive, copy_async_arrive)   \
  X(MbarrierInit, mbarrier_init)          \
  X(MbarrierInval, mbarrier_inval)        \
  X(MbarrierTx, mbarrier_tx)              \
  X(MbarrierArrive, mbarrier_arrive)      \
  X(MbarrierTest, mbarrier_test)          \
  X(MbarrierPending, mbarrier_pending)    \
  X(FenceProxy, fence_proxy)              \
  X(BulkCopy, bulk_copy)                  \
  X(BulkReduce, bulk_reduce)              \
  X(TensorCopy, tensor_copy)              \
  X(TensorMapReplace, tensor_map_replace) \
  X(TensorMapCopy, tensor_map_copy)       \
  X(BulkCommit, bulk_commit)              \
  X(BulkWait, bulk_wait)                  \
  X(TmemAlloc, tmem_alloc)                \
  X(TmemDealloc, tmem_dealloc)            \
  X(TmemRelinquish, tmem_relinquish)      \
  X(TmemLoad, tmem_load)                  \
  X(TmemStore, tmem_store)                \
  X(TmemWait, tmem_wait)                  \
  X(TensorFence, tensor_fence)            \
  X(Mma, mma)                             \
  X(Commit, commit)                       \
  X(TmemCopy, tmem_copy)                  \
  X(TmemShift, tmem_shift)                \
  X(ClcTryCancel, clc_try_cancel)         \
  X(ClcQuery, clc_query)

enum class Op : uint16_t {
#define EMU_OP_ENUM(name, function) name,
  EMU_GPU_OPS(EMU_OP_ENUM)
#undef EMU_OP_ENUM
      Count
};

// What became of the fragment that executed an operation.
enum class Outcome : uint8_t {
  Next,       // go on with the next instruction
  Jump,       // the operation set the program counter
  Retry,      // blocked; the same instruction runs again when woken
  BlockNext,  // blocked; goes on with the next instruction when woken
  Gone        // the fragment ended, was merged into another, or its state was replaced
};

}  // namespace emu::gpu
