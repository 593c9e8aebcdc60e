// Programs that CUDA ends with an error: the error's name is the result.
#include <cassert>

#include "async_proxy.cuh"

namespace conformance {
namespace {

__global__ void null_store(u32* out) {
  *reinterpret_cast<volatile u32*>(out - out + (u64)threadIdx.x * 4) = 1;
}
__global__ void misaligned_load(u32* out) {
  u32 v;
  asm volatile("ld.global.u32 %0, [%1+2];" : "=r"(v) : "l"(out) : "memory");
  out[0] = v;
}
__global__ void misaligned_shared(u32* out) {
  __shared__ alignas(16) u32 s[8];
  u32 a, b;
  s[threadIdx.x % 8] = 1;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2+4];" : "=r"(a), "=r"(b) : "r"(shared_address(s)) : "memory");
  out[0] = a + b;
}
__global__ void trapped(u32* out) {
  out[0] = 1;
  asm volatile("trap;");
}
__global__ void failed_assertion(u32* out) { assert(out == nullptr); }
__global__ void far_outside(u32* out) { out[1ull << 40] = 1; }
__global__ void shared_outside(u32* out) {
  __shared__ u32 s[4];
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(shared_address(s) + 300000) : "memory");
  out[0] = v;
}
__global__ void tensor_reduce_at(u32*, const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(128) u32 s[256];
  s[threadIdx.x] = 1;
  fence_async();
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%1, {%2,%3}], [%0];" ::"r"(
            shared_address(s)),
        "l"(&map), "r"(x), "r"(y)
        : "memory");
    commit_and_wait();
  }
}
__global__ void tensor_store_at(u32*, const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(128) u32 s[256];
  s[threadIdx.x] = 1;
  fence_async();
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2,%3}], [%0];" ::"r"(shared_address(s)),
        "l"(&map), "r"(x), "r"(y)
        : "memory");
    commit_and_wait();
  }
}
__global__ void tensor_load_at(u32* out, const __grid_constant__ CUtensorMap map, int x, int y, u32 offset,
                               u32 expected) {
  __shared__ alignas(1024) u32 s[512];
  __shared__ u64 barrier;
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) {
    init_barrier(b, 1), expect_bytes(b, expected);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2,%3}], "
        "[%4];" ::"r"(shared_address(s) + offset),
        "l"(&map), "r"(x), "r"(y), "r"(b)
        : "memory");
  }
  __syncwarp();
  wait_parity(b, 0);
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void misaligned_bulk(u32* out) {
  __shared__ alignas(128) u32 s[64];
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 64;" ::"l"(out),
                 "r"(shared_address(s) + 4)
                 : "memory");
    commit_and_wait();
  }
}
__global__ void too_many_bytes_expected(u32* out) {
  __shared__ u64 barrier;
  if (threadIdx.x != 0) return;
  init_barrier(shared_address(&barrier), 1);
  expect_bytes(shared_address(&barrier), 1u << 20);
  // The fault comes late: a kernel that has ended by then hands it to the next launch.
  for (int k = 0; k < 1000; ++k) __nanosleep(1000);
  out[0] = 1;
}
}  // namespace

void fault_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*)) {
    add_kernel(table, std::string("fault.") + name, kernel, 1);
  };
  add("null_store", null_store), add("misaligned_load", misaligned_load),
      add("misaligned_shared", misaligned_shared);
  add("trap", trapped), add("assert", failed_assertion), add("far_outside", far_outside),
      add("shared_outside", shared_outside);
  add("misaligned_bulk", misaligned_bulk), add("too_many_bytes_expected", too_many_bytes_expected);
  enum Kind { kLoad, kStore, kReduce };
  auto tensor = [&](const char* name, Kind kind, int x, int y, u32 offset = 0) {
    Case added;
    added.name = std::string("fault.tensor_") + name, added.words = 32;
    added.run = [=](u32* out) {
      const Tile tile{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, {64, 16}, {}, {32, 8}, {}};
      const CUtensorMap map = tile.map(to_device(std::vector<u32>(512)));
      if (kind != kLoad) {
        launch(kind == kStore ? tensor_store_at : tensor_reduce_at, Shape{}, out, map, x, y);
      } else {
        launch(tensor_load_at, Shape{}, out, map, x, y, offset, 512u);
      }
    };
    table.push_back(added);
  };
  tensor("store_at_negative_row", kStore, 0, -1), tensor("store_at_row_minus_8", kStore, 0, -8);
  tensor("store_at_row_minus_100", kStore, 0, -100), tensor("store_at_negative_column", kStore, -8, 0);
  tensor("store_at_negative_corner", kStore, -8, -1), tensor("reduce_at_negative_row", kReduce, 0, -1);
  tensor("reduce_at_negative_column", kReduce, -8, 0), tensor("store_at_odd_column", kStore, 3, 0);
  tensor("load_at_odd_column", kLoad, 3, 0), tensor("load_to_misaligned_shared", kLoad, 0, 0, 16);
}

}  // namespace conformance
