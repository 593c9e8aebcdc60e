// Thread block clusters: ranks, distributed shared memory, remote barriers, multicast (PTX
// ISA 9.7.13.3, 9.7.9.25).
#include "async_proxy.cuh"

namespace conformance {
namespace {

__device__ u32 mapa(u32 address, u32 rank) {
  u32 remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

__global__ void special_registers(u32* out) {
  u32 rank, size, x, ncx, clusters, id, y;
  asm volatile(
      "mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank; mov.u32 %2, %%cluster_ctaid.x;"
      " mov.u32 %3, %%cluster_nctaid.x; mov.u32 %4, %%nclusterid.x; mov.u32 %5, %%clusterid.x; mov.u32 %6, "
      "%%cluster_ctaid.y;"
      : "=r"(rank), "=r"(size), "=r"(x), "=r"(ncx), "=r"(clusters), "=r"(id), "=r"(y));
  u32 explicit_cluster;
  asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}"
               : "=r"(explicit_cluster));
  if (threadIdx.x == 0) {
    u32* row = out + 8 * blockIdx.x;
    row[0] = rank, row[1] = size, row[2] = x, row[3] = ncx, row[4] = clusters, row[5] = id, row[6] = y,
    row[7] = explicit_cluster;
  }
}
__global__ void shared_addresses(u32* out) {  // a shared address carries the rank of its CTA
  __shared__ alignas(16) u32 s[4];
  const u32 own = shared_address(s);
  u32 rank_of_own, rank_of_next;
  const u32 next = mapa(own, (cluster_rank() + 1) % 4);
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank_of_own) : "r"(own));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank_of_next) : "r"(next));
  u64 generic_next;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic_next) : "l"(s), "r"((cluster_rank() + 1) % 4));
  if (threadIdx.x == 0) {
    u32* row = out + 6 * blockIdx.x;
    row[0] = own >> 24, row[1] = next >> 24, row[2] = (next ^ own) & 0xffffff, row[3] = rank_of_own,
    row[4] = rank_of_next;
    row[5] = (u32)__cvta_generic_to_shared((void*)generic_next) == next;
  }
  cluster_sync();
}
__global__ void remote_loads(u32* out) {
  __shared__ u32 s[32];
  s[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  cluster_sync();
  u32 v;
  asm volatile("ld.shared::cluster.u32 %0, [%1];"
               : "=r"(v)
               : "r"(mapa(shared_address(s + 31 - threadIdx.x), cluster_rank() ^ 1))
               : "memory");
  out[blockIdx.x * 32 + threadIdx.x] = v;
  cluster_sync();
}
__global__ void remote_stores(u32* out) {
  __shared__ u32 s[4][32];
  for (u32 to = 0; to < 4; ++to)
    asm volatile(
        "st.shared::cluster.u32 [%0], %1;" ::"r"(mapa(shared_address(&s[cluster_rank()][threadIdx.x]), to)),
        "r"(cluster_rank() * 1000 + to * 100 + threadIdx.x)
        : "memory");
  cluster_sync();
  for (u32 k = 0; k < 4; ++k) out[blockIdx.x * 128 + k * 32 + threadIdx.x] = s[k][threadIdx.x];
}
__global__ void remote_vectors(u32* out) {
  __shared__ alignas(16) u32 s[128];
  for (u32 k = 0; k < 4; ++k) s[4 * threadIdx.x + k] = mix(blockIdx.x * 128 + 4 * threadIdx.x + k);
  cluster_sync();
  u32 a, b, c, d;
  asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(mapa(shared_address(s + 4 * threadIdx.x), cluster_rank() ^ 1))
               : "memory");
  u32* row = out + blockIdx.x * 128 + 4 * threadIdx.x;
  row[0] = a, row[1] = b, row[2] = c, row[3] = d;
  cluster_sync();
}
__global__ void remote_generic(u32* out) {  // a generic pointer to another CTA's shared memory
  __shared__ u32 s[32];
  s[threadIdx.x] = 5 * threadIdx.x + blockIdx.x;
  cluster_sync();
  u64 p;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(p) : "l"(s + threadIdx.x), "r"(cluster_rank() ^ 1));
  out[blockIdx.x * 32 + threadIdx.x] = *reinterpret_cast<volatile u32*>(p);
  cluster_sync();
}
__global__ void remote_atomics(u32* out) {
  __shared__ u32 s[3];
  __shared__ u64 wide;
  if (threadIdx.x == 0) s[0] = 0, s[1] = 0, s[2] = 0x7fffffff, wide = 1;
  cluster_sync();
  u32 old;
  const u32 x = blockIdx.x * 32 + threadIdx.x;
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(mapa(shared_address(s), 0)), "r"(x)
               : "memory");
  asm volatile("red.shared::cluster.max.u32 [%0], %1; red.shared::cluster.min.s32 [%2], %1;" ::"r"(
                   mapa(shared_address(s + 1), 1)),
               "r"(mix(x)), "r"(mapa(shared_address(s + 2), 2))
               : "memory");
  asm volatile("red.shared::cluster.add.u64 [%0], %1;" ::"r"(mapa(shared_address(&wide), 3)),
               "l"((u64)x << 30)
               : "memory");
  cluster_sync();
  if (threadIdx.x == 0) {
    u32* row = out + 5 * blockIdx.x;
    row[0] = s[0], row[1] = s[1], row[2] = s[2], row[3] = (u32)wide, row[4] = wide >> 32;
  }
}
__global__ void remote_arrivals(u32* out) {  // every CTA arrives on the barrier of rank 0
  __shared__ u64 barrier;
  __shared__ u32 s[4];
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(b, 4);
  cluster_sync();
  if (threadIdx.x == 0) {
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(mapa(shared_address(s + cluster_rank()), 0)),
                 "r"(cluster_rank() * 11 + 1)
                 : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapa(b, 0)) : "memory");
  }
  if (cluster_rank() == 0) {
    wait_parity(b, 0);
    if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = s[threadIdx.x];
  }
  cluster_sync();
}
__global__ void asynchronous_stores(u32* out) {  // st.async completes bytes on the destination's barrier
  __shared__ u64 barrier;
  __shared__ alignas(16) u32 s[64];
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(b, 1), expect_bytes(b, 32 * 4 + 8 * 4);
  cluster_sync();
  const u32 peer = cluster_rank() ^ 1;
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   mapa(shared_address(s + threadIdx.x), peer)),
               "r"(threadIdx.x + 1000 * cluster_rank()), "r"(mapa(b, peer))
               : "memory");
  if (threadIdx.x < 2)
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1,%1,%2,%2}, [%3];" ::"r"(
            mapa(shared_address(s + 32 + 4 * threadIdx.x), peer)),
        "r"(threadIdx.x), "r"(77), "r"(mapa(b, peer))
        : "memory");
  wait_parity(b, 0);
  out[blockIdx.x * 40 + threadIdx.x] = s[threadIdx.x];
  if (threadIdx.x < 8) out[blockIdx.x * 40 + 32 + threadIdx.x] = s[32 + threadIdx.x];
  cluster_sync();
}
__global__ void copies_between_ctas(u32* out) {
  __shared__ u64 barrier;
  __shared__ alignas(128) u32 from[64], to[64];
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(b, 1), expect_bytes(b, 256);
  from[threadIdx.x] = mix(blockIdx.x * 64 + threadIdx.x), from[threadIdx.x + 32] = threadIdx.x;
  fence_async();
  cluster_sync();
  const u32 peer = (cluster_rank() + 1) % 4;
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
            mapa(shared_address(to), peer)),
        "r"(shared_address(from)), "r"(mapa(b, peer))
        : "memory");
  wait_parity(b, 0);
  out[blockIdx.x * 64 + threadIdx.x] = to[threadIdx.x],
                        out[blockIdx.x * 64 + 32 + threadIdx.x] = to[32 + threadIdx.x];
  cluster_sync();
}
__global__ void reductions_between_ctas(u32* out) {  // three CTAs add to shared memory of the fourth
  __shared__ u64 barrier;
  __shared__ alignas(128) u32 from[32], sum[32], largest[32];
  const u32 b = shared_address(&barrier);
  if (threadIdx.x == 0) init_barrier(b, 1), expect_bytes(b, cluster_rank() == 0 ? 3 * 256 : 0);
  from[threadIdx.x] = mix(blockIdx.x * 64 + threadIdx.x), sum[threadIdx.x] = threadIdx.x,
  largest[threadIdx.x] = 0;
  fence_async();
  cluster_sync();
  if (threadIdx.x == 0 && cluster_rank() != 0) {
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], "
        "128, [%2];" ::"r"(mapa(shared_address(sum), 0)),
        "r"(shared_address(from)), "r"(mapa(b, 0))
        : "memory");
    asm volatile(
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 [%0], [%1], "
        "128, [%2];" ::"r"(mapa(shared_address(largest), 0)),
        "r"(shared_address(from)), "r"(mapa(b, 0))
        : "memory");
  }
  if (cluster_rank() == 0) {
    wait_parity(b, 0);
    out[threadIdx.x] = sum[threadIdx.x], out[32 + threadIdx.x] = largest[threadIdx.x];
  }
  cluster_sync();
}
__global__ void bulk_multicast(u32* out) {  // rank 1 loads into ranks 0, 2 and 3
  __shared__ u64 barrier;
  __shared__ alignas(128) u32 s[64];
  u32* source = out + 512;
  const u32 b = shared_address(&barrier);
  if (blockIdx.x == 1)
    source[threadIdx.x] = mix(threadIdx.x), source[threadIdx.x + 32] = 9 * threadIdx.x, __threadfence();
  s[threadIdx.x] = s[threadIdx.x + 32] = 0xeeeeeeee;
  if (threadIdx.x == 0) init_barrier(b, 1), expect_bytes(b, cluster_rank() == 1 ? 0 : 256);
  fence_async();
  cluster_sync();
  if (threadIdx.x == 0 && cluster_rank() == 1)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], "
        "256, [%2], %3;" ::"r"(shared_address(s)),
        "l"(source), "r"(b), "h"((u16)0b1101)
        : "memory");
  wait_parity(b, 0);
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x],
                        out[blockIdx.x * 64 + 32 + threadIdx.x] = s[threadIdx.x + 32];
  cluster_sync();
}
// Each CTA loads its quarter of the rows into all four.
__global__ void tensor_multicast(u32* out, const __grid_constant__ CUtensorMap map) {
  __shared__ u64 barrier;
  __shared__ alignas(1024) u32 s[512];
  const u32 b = shared_address(&barrier), rank = cluster_rank();
  if (threadIdx.x == 0) init_barrier(b, 1), expect_bytes(b, 2048);
  cluster_sync();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(s) + rank * 512),
        "l"(&map), "r"(0), "r"(4 * rank), "r"(b), "h"((u16)15)
        : "memory");
  wait_parity(b, 0);
  for (u32 k = threadIdx.x; k < 512; k += 32) out[blockIdx.x * 512 + k] = s[k];
  cluster_sync();
}
__global__ void barrier_phases(u32* out) {  // values pass round the cluster, a cluster barrier a step
  __shared__ u32 s[2];
  u32 value = blockIdx.x + 1;
  for (u32 step = 0; step < 6; ++step) {
    if (threadIdx.x == 0)
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(
                       mapa(shared_address(s + step % 2), (cluster_rank() + 1) % 4)),
                   "r"(value)
                   : "memory");
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory");
    value = s[step % 2] * 3 + cluster_rank();
  }
  out[blockIdx.x * 32 + threadIdx.x] = value;
}
__global__ void exited_ctas(u32* out) {  // a CTA that has ended no longer counts at the cluster barrier
  if (cluster_rank() == 3) return;
  cluster_sync();
  out[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
}
__global__ void __cluster_dims__(2, 2, 1) compile_time_shape(u32* out) {
  u32 x, y, rank;
  asm volatile("mov.u32 %0, %%cluster_ctaid.x; mov.u32 %1, %%cluster_ctaid.y; mov.u32 %2, %%cluster_ctarank;"
               : "=r"(x), "=r"(y), "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.x + 4 * blockIdx.y] = x | y << 4 | rank << 8;
}
__global__ void sixteen(u32* out) {
  __shared__ u32 s[16];
  for (u32 to = 0; to < 16; ++to)
    if (threadIdx.x == to)
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(mapa(shared_address(s + cluster_rank()), to)),
                   "r"(cluster_rank() * 16 + to)
                   : "memory");
  cluster_sync();
  if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x];
}
}  // namespace

void cluster_cases(Table& table) {
  auto add = [&](const char* name, void (*kernel)(u32*), size_t words, Shape shape) {
    add_kernel(table, std::string("cluster.") + name, kernel, words, shape);
  };
  const Shape four{4, 32, 4}, eight_by_four{8, 32, 4}, pairs{4, 32, 2};
  add("special_registers", special_registers, 64, eight_by_four),
      add("no_cluster", special_registers, 32, {4, 32});
  add("shared_addresses", shared_addresses, 24, four), add("remote_loads", remote_loads, 128, pairs);
  add("remote_stores", remote_stores, 1024, eight_by_four), add("remote_vectors", remote_vectors, 512, pairs);
  add("remote_generic", remote_generic, 128, pairs), add("remote_atomics", remote_atomics, 20, four);
  add("remote_arrivals", remote_arrivals, 32, eight_by_four),
      add("asynchronous_stores", asynchronous_stores, 160, pairs);
  add("copies_between_ctas", copies_between_ctas, 512, eight_by_four),
      add("reductions_between_ctas", reductions_between_ctas, 64, four);
  add("bulk_multicast", bulk_multicast, 576, four), add("barrier_phases", barrier_phases, 128, four);
  add("exited_ctas", exited_ctas, 128, four),
      add("compile_time_shape", compile_time_shape, 16, {dim3(4, 4), 32});
  add("sixteen_ctas", sixteen, 256, {16, 32, 16});
  Case multicast;
  multicast.name = "cluster.tensor_multicast", multicast.words = 2048;
  multicast.run = [](u32* out) {
    std::vector<u16> elements(64 * 16);
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<u16>(i);
    const Tile tile{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, {64, 16}, {}, {64, 4}, {}, CU_TENSOR_MAP_SWIZZLE_128B};
    launch(tensor_multicast, Shape{4, 32, 4}, out, tile.map(to_device(elements)));
  };
  table.push_back(multicast);
}

}  // namespace conformance
