// mbarrier objects (PTX ISA 9.7.13.15). One thread runs most sequences; what is stored are wait results and
// counts.
#include "../launch.cuh"

namespace conformance {
namespace {

__device__ u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
__device__ void init(u32 b, u32 count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(count) : "memory");
}
__device__ u64 arrive(u32 b) {
  u64 token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  return token;
}
__device__ u64 arrive_count(u32 b, u32 n) {
  u64 token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(token) : "r"(b), "r"(n) : "memory");
  return token;
}
__device__ u64 arrive_drop(u32 b) {
  u64 token;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  return token;
}
__device__ u64 arrive_no_complete(u32 b, u32 n) {
  u64 token;
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(b), "r"(n)
               : "memory");
  return token;
}
__device__ u64 arrive_expect(u32 b, u32 bytes) {
  u64 token;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(b), "r"(bytes)
               : "memory");
  return token;
}
__device__ void expect(u32 b, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
__device__ void complete(u32 b, u32 bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
__device__ u32 pending(u64 token) {
  u32 count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}
__device__ u32 test(u32 b, u64 token) {
  u32 done;
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(done)
               : "r"(b), "l"(token)
               : "memory");
  return done;
}
__device__ u32 test_parity(u32 b, u32 parity) {
  u32 done;
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(done)
               : "r"(b), "r"(parity)
               : "memory");
  return done;
}
__device__ u32 try_parity(u32 b, u32 parity, u32 nanoseconds) {
  u32 done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p;}"
               : "=r"(done)
               : "r"(b), "r"(parity), "r"(nanoseconds)
               : "memory");
  return done;
}
__device__ u32 both(u32 b) { return test_parity(b, 0) | test_parity(b, 1) << 1; }

#define SEQUENCE(NAME, ...)               \
  __global__ void NAME(u32* out) {        \
    __shared__ u64 object[4];             \
    const u32 b = shared_address(object); \
    if (threadIdx.x == 0) __VA_ARGS__     \
  }

SEQUENCE(fresh, {
  init(b, 3);
  out[0] = both(b);
  out[1] = try_parity(b, 1, 100);
  out[2] = try_parity(b, 0, 100);
})
SEQUENCE(counting, {
  init(b, 3);
  for (u32 k = 0; k < 8; ++k) arrive(b), out[k] = both(b);
})
SEQUENCE(tokens, {
  init(b, 2);
  const u64 first = arrive(b);
  out[0] = test(b, first);
  const u64 second = arrive(b);
  out[1] = test(b, first), out[2] = test(b, second);
  const u64 third = arrive(b);
  out[3] = test(b, third), out[4] = first == second;
})
SEQUENCE(counts_of_several, {
  init(b, 10);
  out[0] = pending(arrive_count(b, 3)), out[1] = pending(arrive_count(b, 6)), out[2] = both(b);
  arrive_count(b, 1), out[3] = both(b);
  out[4] = pending(arrive_count(b, 9)), out[5] = pending(arrive(b)), out[6] = both(b);
})
SEQUENCE(no_complete, {
  init(b, 5);
  out[0] = pending(arrive_no_complete(b, 2)), out[1] = pending(arrive_no_complete(b, 1)), out[2] = both(b);
  arrive_count(b, 2), out[3] = both(b), out[4] = pending(arrive_no_complete(b, 4));
})
SEQUENCE(drop, {
  init(b, 3);
  out[0] = pending(arrive_drop(b)), arrive_count(b, 2), out[1] = both(b);
  out[2] = pending(arrive(b)), out[3] = both(b), arrive(b), out[4] = both(b);
  arrive_drop(b), arrive(b), out[5] = both(b), arrive(b), out[6] = both(b);
})
SEQUENCE(bytes_after_expectation, {
  init(b, 1);
  arrive_expect(b, 64), out[0] = both(b);
  complete(b, 16), out[1] = both(b), complete(b, 48), out[2] = both(b);
})
SEQUENCE(bytes_before_expectation, {
  init(b, 1);
  complete(b, 32), out[0] = both(b);
  arrive_expect(b, 64), out[1] = both(b), complete(b, 32), out[2] = both(b);
})
SEQUENCE(expectation_without_arrival, {
  init(b, 2);
  expect(b, 128), arrive_count(b, 2), out[0] = both(b);
  expect(b, 16), complete(b, 100), out[1] = both(b), complete(b, 44), out[2] = both(b);
  arrive_count(b, 2), out[3] = both(b);
})
SEQUENCE(zero_bytes_expected, {
  init(b, 1);
  arrive_expect(b, 0), out[0] = both(b);
  expect(b, 8), complete(b, 8), out[1] = both(b), arrive(b), out[2] = both(b);
})
SEQUENCE(large_counts, {
  init(b, (1u << 20) - 1);
  out[0] = pending(arrive_count(b, 1)), out[1] = pending(arrive_count(b, (1u << 19))), out[2] = both(b);
  expect(b, (1u << 20) - 1), arrive_count(b, (1u << 19) - 2), out[3] = both(b), complete(b, (1u << 20) - 1),
                                                              out[4] = both(b);
})
SEQUENCE(invalidated_and_initialised_again, {
  init(b, 1), arrive(b), out[0] = both(b);
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
  init(b, 2), out[1] = both(b), arrive(b), out[2] = both(b), arrive(b), out[3] = both(b);
})
SEQUENCE(drop_with_expectation, {
  init(b, 2);
  u64 token;
  asm volatile("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], 32;"
               : "=l"(token)
               : "r"(b)
               : "memory");
  out[0] = pending(token), arrive(b), out[1] = both(b), complete(b, 32), out[2] = both(b);
  arrive(b), out[3] = both(b);
})
SEQUENCE(many_phases, {
  init(b, 1);
  u32 r = 0;
  for (u32 k = 0; k < 37; ++k) arrive(b), r = r * 3 + both(b);
  out[0] = r;
})
SEQUENCE(generic_address_forms, {
  asm volatile("mbarrier.init.b64 [%0], 2;" ::"l"(object) : "memory");
  u64 token;
  asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(token) : "l"(object) : "memory");
  u32 done;
  out[0] = pending(token), arrive(b);
  asm volatile("{.reg .pred p; mbarrier.try_wait.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(done)
               : "l"(object), "l"(token)
               : "memory");
  out[1] = done;
})
__global__ void pipeline(
    u32* out) {  // two warps hand a word over, 12 times, through a full and an empty barrier
  __shared__ u64 objects[2];
  __shared__ volatile u32 slot[32];
  const u32 full = shared_address(objects), empty = shared_address(objects + 1), lane = threadIdx.x & 31;
  if (threadIdx.x == 0) init(full, 32), init(empty, 32);
  __syncthreads();
  for (u32 k = 0; k < 12; ++k) {
    const u32 parity = k & 1;
    if (threadIdx.x < 32) {
      while (!try_parity(empty, parity ^ 1, 1000)) {
      }
      slot[lane] = k * 100 + lane;
      arrive(full);
    } else {
      while (!try_parity(full, parity, 1000)) {
      }
      out[32 * k + lane] = slot[31 - lane];
      arrive(empty);
    }
  }
}
__global__ void waiters_under_divergence(u32* out) {  // odd lanes wait for what even lanes arrive
  __shared__ u64 object;
  const u32 b = shared_address(&object);
  if (threadIdx.x == 0) init(b, 16);
  __syncwarp();
  if (threadIdx.x & 1) {
    while (!test_parity(b, 0)) {
    }
    out[threadIdx.x] = 1;
  } else {
    arrive(b);
    out[threadIdx.x] = 2;
  }
}
}  // namespace

void mbarrier_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words = 8, Shape shape = {}) {
    add_kernel(table, std::string("mbarrier.") + name, kernel, words, shape);
  };
  add("fresh", fresh), add("counting", counting), add("tokens", tokens),
      add("counts_of_several", counts_of_several);
  add("no_complete", no_complete), add("drop", drop), add("bytes_after_expectation", bytes_after_expectation);
  add("bytes_before_expectation", bytes_before_expectation),
      add("expectation_without_arrival", expectation_without_arrival);
  add("zero_bytes_expected", zero_bytes_expected), add("large_counts", large_counts);
  add("initialised_again", invalidated_and_initialised_again),
      add("drop_with_expectation", drop_with_expectation);
  add("many_phases", many_phases), add("generic_addresses", generic_address_forms);
  add("full_and_empty", pipeline, 384, {1, 64}),
      add("waiters_under_divergence", waiters_under_divergence, 32);
}

}  // namespace conformance
