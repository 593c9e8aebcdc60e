// The copy engine in all its directions, and clusters: multicast into up to sixteen CTAs, the peer's barrier
// named by clearing an address bit, distributed shared memory, asynchronous stores.
#include <cooperative_groups.h>
#include <cuda.h>

#include <numeric>

#include "barrier.cuh"
#include "check.h"
#include "tensor_map.h"

namespace cg = cooperative_groups;

namespace {

__device__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void fill_pattern(int* words, int count, int base) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) words[i] = base + i;
  fence_proxy_async_shared();
  __syncthreads();
}
__device__ void store_and_wait() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// A dense tensor of 32-bit integers; box and extents innermost first.
CUtensorMap map_of(void* base, std::vector<cuuint64_t> extents, std::vector<cuuint32_t> box,
                   CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
  std::vector<cuuint64_t> strides;
  cuuint64_t stride = 4;
  for (size_t i = 0; i + 1 < extents.size(); ++i) strides.push_back(stride *= extents[i]);
  const std::vector<cuuint32_t> ones(extents.size(), 1);
  CUtensorMap map;
  const CUresult status = tensor_map_encoder()(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, static_cast<cuuint32_t>(extents.size()), base, extents.data(),
      strides.data(), box.data(), ones.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) std::printf("tensor map refused: %d\n", status), std::exit(1);
  return map;
}

template <int kRank, bool kAdd>
__global__ void store_box(const __grid_constant__ CUtensorMap map, int count) {
  __shared__ alignas(1024) int box[512];
  fill_pattern(box, count, 1);
  if (threadIdx.x == 0) {
    const uint32_t from = shared_address(box);
#define STORE(RANK, COORDINATES)                                                                    \
  if constexpr (kRank == RANK && !kAdd)                                                             \
    asm volatile("cp.async.bulk.tensor." #RANK "d.global.shared::cta.bulk_group [%0, " COORDINATES  \
                 "], [%1];" ::"l"(&map),                                                            \
                 "r"(from), "r"(4), "r"(2), "r"(1), "r"(0), "r"(1)                                  \
                 : "memory");                                                                       \
  if constexpr (kRank == RANK && kAdd)                                                              \
  asm volatile("cp.reduce.async.bulk.tensor." #RANK                                                 \
               "d.global.shared::cta.add.tile.bulk_group [%0, " COORDINATES "], [%1];" ::"l"(&map), \
               "r"(from), "r"(4), "r"(2), "r"(1), "r"(0), "r"(1)                                    \
               : "memory")
    STORE(1, "{%2}");
    STORE(2, "{%2, %3}");
    STORE(3, "{%2, %3, %4}");
    STORE(4, "{%2, %3, %4, %5}");
    STORE(5, "{%2, %3, %4, %5, %6}");
#undef STORE
    store_and_wait();
  }
}

template <int kRank, bool kAdd>
int store_rank() {
  const cuuint64_t all_extents[5] = {8, 5, 3, 2, 2};
  const cuuint32_t all_box[5] = {4, 3, 2, 2, 1};
  const int at[5] = {4, 2, 1, 0, 1};
  size_t total = 1;
  int count = 1;
  for (int d = 0; d < kRank; ++d) total *= all_extents[d], count *= all_box[d];
  std::vector<int> start(total);
  std::iota(start.begin(), start.end(), 1000);
  int* device = device_copy(start);
  const CUtensorMap map = map_of(device, {all_extents, all_extents + kRank}, {all_box, all_box + kRank});
  store_box<kRank, kAdd><<<1, 64>>>(map, count);
  const auto got = host_copy(device, total);
  int wrong = 0;
  for (size_t i = 0; i < total; ++i) {
    size_t rest = i;
    int inside = 0, weight = 1;
    bool in_box = true;
    for (int d = 0; d < kRank; ++d) {
      const int c = static_cast<int>(rest % all_extents[d]) - at[d];
      rest /= all_extents[d];
      in_box &= c >= 0 && c < static_cast<int>(all_box[d]);
      inside += c * weight;
      weight *= static_cast<int>(all_box[d]);
    }
    const int want = !in_box ? start[i] : kAdd ? start[i] + 1 + inside : 1 + inside;
    wrong += got[i] != want;
  }
  return wrong;
}

int tensor_stores() {
  return store_rank<1, false>() + store_rank<2, false>() + store_rank<3, false>() + store_rank<4, false>() +
         store_rank<5, false>() + store_rank<1, true>() + store_rank<2, true>() + store_rank<3, true>() +
         store_rank<4, true>() + store_rank<5, true>();
}

// Four chosen rows are gathered, and scattered to four others.
__global__ void move_rows(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(1024) int rows[4 * 32];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    mbarrier::init(&barrier, 1);
    mbarrier::fence_init();
    asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&to), "r"(0), "r"(0)
                 : "memory");
    mbarrier::arrive_expect_tx(&barrier, sizeof rows);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3, %4, "
        "%5, %6}], [%7];" ::"r"(shared_address(rows)),
        "l"(&from), "r"(0), "r"(9), "r"(2), "r"(14), "r"(5), "r"(shared_address(&barrier))
        : "memory");
    mbarrier::wait(&barrier, 0);
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, %4, %5}], "
        "[%6];" ::"l"(&to),
        "r"(0), "r"(1), "r"(15), "r"(3), "r"(8), "r"(shared_address(rows))
        : "memory");
    store_and_wait();
  }
}

int gather_scatter() {
  std::vector<int> matrix(16 * 32);
  std::iota(matrix.begin(), matrix.end(), 0);
  int *from = device_copy(matrix), *to = device_zeros<int>(matrix.size());
  move_rows<<<1, 32>>>(map_of(from, {32, 16}, {32, 1}), map_of(to, {32, 16}, {32, 1}));
  const auto got = host_copy(to, matrix.size());
  const int source[4] = {9, 2, 14, 5}, target[4] = {1, 15, 3, 8};
  std::vector<int> want(matrix.size());
  for (int r = 0; r < 4; ++r)
    for (int i = 0; i < 32; ++i) want[target[r] * 32 + i] = matrix[source[r] * 32 + i];
  int wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) wrong += got[i] != want[i];
  return wrong;
}

__global__ void plain_copies(const int* in, int* out, int* sum) {
  __shared__ alignas(128) int buffer[256];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    mbarrier::init(&barrier, 1);
    mbarrier::fence_init();
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(1024) : "memory");
    mbarrier::arrive_expect_tx(&barrier, 1024);
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(buffer)),
                 "l"(in), "r"(1024), "r"(shared_address(&barrier))
                 : "memory");
  }
  __syncthreads();
  mbarrier::wait(&barrier, 0);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) buffer[i] += 7;
  fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                 "r"(shared_address(buffer)), "r"(1024)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(sum),
                 "r"(shared_address(buffer)), "r"(1024)
                 : "memory");
    store_and_wait();
  }
}

int bulk_copies() {
  std::vector<int> in(256), start(256, 5);
  std::iota(in.begin(), in.end(), 0);
  int *out = device_zeros<int>(256), *sum = device_copy(start);
  plain_copies<<<1, 64>>>(device_copy(in), out, sum);
  const auto got = host_copy(out, 256), got_sum = host_copy(sum, 256);
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += (got[i] != i + 7) + (got_sum[i] != i + 12);
  return wrong;
}

// .ignore_oob came with PTX ISA 9.2, which nvcc 13.0 does not assemble: the text is loaded at run time. 48
// bytes are copied, of which the last eight lie past the end of the allocation.
constexpr const char* kIgnoreOob = R"(
.version 9.2
.target sm_100a
.address_size 64
.visible .entry ignore_oob(.param .u64 from, .param .u64 to) {
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;
  .shared .align 16 .b8 tile[48];
  .shared .align 8 .b64 barrier;
  ld.param.u64 %d0, [from];
  ld.param.u64 %d1, [to];
  mov.u32 %r0, tile;
  mov.u32 %r1, barrier;
  mbarrier.init.shared::cta.b64 [%r1], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 48;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r0], [%d0], 48, 0, 8, [%r1];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
  @!%p1 bra WAIT;
  mov.u32 %r2, 0;
NEXT:
  add.u32 %r3, %r0, %r2;
  ld.shared.u32 %r4, [%r3];
  cvt.u64.u32 %d2, %r2;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r4;
  add.u32 %r2, %r2, 4;
  setp.lt.u32 %p1, %r2, 40;
  @%p1 bra NEXT;
  ret;
}
)";

int ignore_oob() {
  std::vector<int> in(10);
  std::iota(in.begin(), in.end(), 1);
  int *from = device_copy(in), *to = device_zeros<int>(10);
  cudaLibrary_t library;
  cudaKernel_t kernel;
  if (cudaLibraryLoadData(&library, kIgnoreOob, nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess)
    return 1;
  if (cudaLibraryGetKernel(&kernel, library, "ignore_oob") != cudaSuccess) return 2;
  void* arguments[] = {&from, &to};
  if (cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 1, arguments, 0, nullptr) != cudaSuccess)
    return 3;
  return host_copy(to, 10) == in ? 0 : 4;
}

// Every CTA of a cluster of X x Y loads the slice of its rank and multicasts it to its row of the cluster.
__device__ void multicast_body(const CUtensorMap* map, int* out, uint32_t width, uint32_t ranks) {
  __shared__ alignas(1024) int tile[16 * 32];
  __shared__ uint64_t barrier;
  const uint32_t rank = cluster_rank();
  if (threadIdx.x == 0) {
    mbarrier::init(&barrier, 1);
    mbarrier::fence_init();
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    mbarrier::arrive_expect_tx(&barrier, width * 128);
    const uint32_t column = rank % width;
    const auto mask = static_cast<uint16_t>(((1u << width) - 1) << (rank / width * width));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, "
        "%3}], [%4], %5;" ::"r"(shared_address(tile + column * 32)),
        "l"(map), "r"(0), "r"(static_cast<int>(rank + blockIdx.z * ranks)), "r"(shared_address(&barrier)),
        "h"(mask)
        : "memory");
  }
  mbarrier::wait(&barrier, 0);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < width * 32; i += blockDim.x)
    out[(rank + blockIdx.z * ranks) * width * 32 + i] = tile[i];
  cluster_sync();
}
__global__ void multicast(const __grid_constant__ CUtensorMap map, int* out, uint32_t width, uint32_t ranks) {
  multicast_body(&map, out, width, ranks);
}
__global__ void __cluster_dims__(2, 1, 1) multicast_pair(const __grid_constant__ CUtensorMap map, int* out) {
  multicast_body(&map, out, 2, 2);
}

int check_multicast(const std::vector<int>& got, int width) {
  int wrong = 0;
  for (size_t cta = 0; cta < got.size() / (width * 32); ++cta) {
    for (int i = 0; i < width * 32; ++i) {
      const size_t row = cta / width * width + i / 32;
      wrong += got[cta * width * 32 + i] != static_cast<int>(row * 32 + i % 32);
    }
  }
  return wrong;
}

int multicast_clusters() {
  const int clusters = 2;
  std::vector<int> rows(16 * clusters * 32);
  std::iota(rows.begin(), rows.end(), 0);
  const CUtensorMap map = map_of(device_copy(rows), {32, 16 * clusters}, {32, 1});
  int wrong = 0;
  for (unsigned side : {2u, 4u}) {
    int* out = device_zeros<int>(side * side * clusters * side * 32);
    REQUIRE_CUDA(cudaFuncSetAttribute(multicast, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {side, side, 1};
    cudaLaunchConfig_t config{dim3(side, side, clusters), dim3(64), 0, nullptr, &attribute, 1};
    REQUIRE_CUDA(cudaLaunchKernelEx(&config, multicast, map, out, side, side * side));
    wrong += check_multicast(host_copy(out, side * side * clusters * side * 32), static_cast<int>(side));
  }
  int* out = device_zeros<int>(2 * 2 * 32);
  multicast_pair<<<2, 64>>>(map, out);
  return wrong + check_multicast(host_copy(out, 2 * 2 * 32), 2);
}

// Both CTAs of a pair load half a tile and credit the even one's barrier, whose address they make from their
// own.
__global__ void __cluster_dims__(2, 1, 1)
    peer_barrier(const __grid_constant__ CUtensorMap map, int* seen, int* out) {
  __shared__ alignas(1024) int tile[4 * 32];
  __shared__ uint64_t loaded;
  const uint32_t rank = cluster_rank();
  if (threadIdx.x == 0) {
    mbarrier::init(&loaded, 1);
    mbarrier::fence_init();
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    if (rank == 0) mbarrier::arrive_expect_tx(&loaded, 2 * sizeof tile);
    asm volatile(
        "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3}], "
        "[%4];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(0), "r"(static_cast<int>(rank) * 4), "r"(shared_address(&loaded) & 0xFEFFFFFF)
        : "memory");
    if (rank == 0) mbarrier::wait(&loaded, 0);
  }
  cluster_sync();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) out[rank * 128 + i] = tile[i];
  if (threadIdx.x == 0) seen[rank] = static_cast<int>(shared_address(&loaded) >> 24);
}

int pair_barrier() {
  std::vector<int> rows(8 * 32);
  std::iota(rows.begin(), rows.end(), 0);
  int *seen = device_zeros<int>(2), *out = device_zeros<int>(256);
  peer_barrier<<<2, 64>>>(map_of(device_copy(rows), {32, 8}, {32, 4}), seen, out);
  const auto got = host_copy(out, 256);
  const auto ranks = host_copy(seen, 2);
  int wrong = ranks[1] != ranks[0] + 1;
  for (int i = 0; i < 256; ++i) wrong += got[i] != i;
  return wrong;
}

// Sixteen CTAs exchange through distributed shared memory, remote arrivals, st.async and red.async.
__global__ void exchange(int* out) {
  __shared__ int mailbox[16];
  __shared__ unsigned long long pushed[2];
  __shared__ int total;
  __shared__ uint64_t arrived, delivered;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
  if (threadIdx.x == 0) {
    total = 0;
    mbarrier::init(&arrived, size);
    mbarrier::init(&delivered, 1);
    mbarrier::fence_init();
    mbarrier::arrive_expect_tx(&delivered, 16 + 4);
  }
  cluster.sync();
  if (threadIdx.x < size) {
    cluster.map_shared_rank(mailbox, threadIdx.x)[rank] = static_cast<int>(rank * 100 + threadIdx.x);
    uint32_t remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(remote)
                 : "r"(shared_address(&arrived)), "r"(threadIdx.x));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  }
  if (threadIdx.x == 0) {
    uint32_t to, barrier, sum;
    const uint32_t next = (rank + 1) % size;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(pushed)), "r"(next));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(barrier)
                 : "r"(shared_address(&delivered)), "r"(next));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(sum) : "r"(shared_address(&total)), "r"(next));
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(to),
        "l"(1000ull + rank), "l"(2000ull + rank), "r"(barrier)
        : "memory");
    asm volatile(
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %1, [%2];" ::
            "r"(sum),
        "r"(static_cast<int>(rank) - 5), "r"(barrier)
        : "memory");
  }
  mbarrier::wait(&arrived, 0);
  mbarrier::wait(&delivered, 0);
  if (threadIdx.x < size) out[rank * 19 + threadIdx.x] = mailbox[threadIdx.x];
  if (threadIdx.x == 0) {
    out[rank * 19 + 16] = static_cast<int>(pushed[0]);
    out[rank * 19 + 17] = static_cast<int>(pushed[1]);
    out[rank * 19 + 18] = total;
  }
  cluster.sync();
}

int distributed_shared() {
  int* out = device_zeros<int>(16 * 19);
  REQUIRE_CUDA(cudaFuncSetAttribute(exchange, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {16, 1, 1};
  cudaLaunchConfig_t config{dim3(16), dim3(64), 0, nullptr, &attribute, 1};
  REQUIRE_CUDA(cudaLaunchKernelEx(&config, exchange, out));
  const auto got = host_copy(out, 16 * 19);
  int wrong = 0;
  for (int r = 0; r < 16; ++r) {
    for (int i = 0; i < 16; ++i) wrong += got[r * 19 + i] != i * 100 + r;
    const int before = (r + 15) % 16;
    wrong += (got[r * 19 + 16] != 1000 + before) + (got[r * 19 + 17] != 2000 + before) +
             (got[r * 19 + 18] != before - 5);
  }
  return wrong;
}

constexpr Case kCases[] = {{"tensor_stores", tensor_stores},
                           {"gather_scatter", gather_scatter},
                           {"bulk_copies", bulk_copies},
                           {"ignore_oob", ignore_oob},
                           {"multicast", multicast_clusters},
                           {"pair_barrier", pair_barrier},
                           {"distributed_shared", distributed_shared}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
