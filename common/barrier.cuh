// Barriers and the fences that go with them: mbarriers (PTX ISA 9.7.13.15), named barriers, proxy fences,
// elect.sync.
#pragma once

#include <cstdint>

// The 32-bit shared::cta address that PTX instructions take, from a pointer into shared memory.
__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// An mbarrier's phase completes when its pending arrivals and its pending bytes are both zero. It starts in
// phase 0, and a wait names the parity of the phase it waits for: 0 for the first, 1 for the second, 0 for
// the third... A waiter may not fall two phases behind, or parity deceives it.
namespace mbarrier {

// Sets up `barrier` to complete a phase after `arrivals` arrivals. One thread, once.
__device__ inline void init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

// Makes this thread's mbarrier.init visible to the async proxy (TMA, tcgen05.commit). A CTA barrier must
// follow before other threads use the barriers (PTX ISA 9.7.13.4).
__device__ inline void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// One arrival, with release semantics for this thread's earlier ordinary accesses.
__device__ inline void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// One arrival that also announces `bytes` which TMA will deliver in this phase.
__device__ inline void arrive_expect_tx(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

// True once the phase with this parity has completed; may suspend the thread and return false.
__device__ inline bool try_wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
      "selp.u32 %0, 1, 0, complete;\n"
      "}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

// Returns when the phase with this parity has completed, with acquire semantics. The lanes of a warp may
// leave the loop at different times: __syncwarp() before the next .sync.aligned instruction.
__device__ inline void wait(uint64_t* barrier, uint32_t parity) {
  while (!try_wait(barrier, parity)) {
  }
}

}  // namespace mbarrier

// bar.sync on barrier `id` (1..15; 0 is __syncthreads) among `threads` threads, a multiple of 32.
__device__ inline void named_barrier_sync(uint32_t id, uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Orders this thread's ordinary (generic-proxy) accesses to shared memory before later async-proxy ones: the
// tensor core's operand reads and TMA (PTX ISA 9.7.13.4). The thread that wrote must execute it, before it
// signals.
__device__ inline void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// True in exactly one lane of a converged warp, always the same one.
__device__ inline bool elect_one() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred leader;\n"
      "elect.sync _|leader, 0xFFFFFFFF;\n"
      "selp.u32 %0, 1, 0, leader;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}
