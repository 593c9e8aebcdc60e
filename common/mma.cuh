// The fifth-generation tensor core (PTX ISA 9.7.16): D[128 x N] (+)= A[128 x 16] B[16 x N] per instruction,
// BF16 inputs, FP32 accumulator in tensor memory. One thread issues; the work is asynchronous until a
// commit's arrival is observed.
//
// Hand-offs between the asynchronous units and the threads, and what each takes (PTX ISA 9.7.16.6, 9.7.13.4).
// Kernels name them by letter at every fence, wait and arrive:
//
//   (a) st.shared -> MMA operand     writer: fence.proxy.async, arrive; issuer: wait, fence_after
//   (b) tcgen05.st -> MMA            writer: wait::st, fence_before, arrive; issuer: wait, fence_after
//   (c) MMA -> tcgen05.ld            issuer: commit; reader: wait, fence_after
//   (d) TMA -> MMA operand           loader: expect_tx, copy; issuer: wait, fence_after
//   (e) MMA operand -> TMA refill    issuer: commit; loader: wait (both sides are the async proxy)
//   (f) tcgen05.ld -> MMA overwrite  reader: wait::ld, fence_before, arrive; issuer: wait, fence_after
//   (g) st.shared -> TMA store       writer: fence.proxy.async, barrier; storer: copy
//   (h) ld.shared -> TMA refill      reader: fence.proxy.async, arrive; loader: wait
//   (i) mbarrier.init -> TMA, commit initialiser: fence.mbarrier_init, CTA barrier
//
// fence_before and fence_after stand for tcgen05.fence::before_thread_sync and ::after_thread_sync.
#pragma once

#include <cstdint>

#include "barrier.cuh"

namespace tcgen05 {

// Both operands from shared memory. `d` is the tensor-memory address of the accumulator; its old content is
// added when `accumulate` is true and never read when it is false.
__device__ inline void mma_ss(uint32_t d, uint64_t a_descriptor, uint64_t b_descriptor,
                              uint32_t instruction_descriptor, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.u32 accumulate, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, accumulate;\n"
      "}" ::"r"(d),
      "l"(a_descriptor), "l"(b_descriptor), "r"(instruction_descriptor),
      "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}

// Operand A from tensor memory: row m in lane m, two BF16 a column (even K in the low half), so 8 columns an
// instruction. Always K-major.
__device__ inline void mma_ts(uint32_t d, uint32_t a, uint64_t b_descriptor, uint32_t instruction_descriptor,
                              bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.u32 accumulate, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, accumulate;\n"
      "}" ::"r"(d),
      "r"(a), "l"(b_descriptor), "r"(instruction_descriptor), "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}

// Arrives once on `barrier` when every MMA this thread has issued so far is complete: its operands read, its
// accumulator written. Only the thread that issued them can commit them (PTX ISA 9.7.16.12). Implies
// fence_before_thread_sync.
__device__ inline void commit(uint64_t* barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                   shared_address(barrier))
               : "memory");
}

// Orders this thread's earlier tcgen05 operations before its next barrier arrival. Waits for nothing: loads
// and stores of tensor memory need their own wait first (PTX ISA 9.7.16.11).
__device__ inline void fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// Orders this thread's later tcgen05 operations after the barrier wait it has just completed.
__device__ inline void fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

}  // namespace tcgen05
