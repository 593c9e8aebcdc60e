// Device code of the toolkit's own template libraries, which nobody wrote with this emulator in mind.
#pragma nv_diag_suppress static_var_with_dynamic_init
#include <thrust/device_vector.h>
#include <thrust/inner_product.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/complex>
#include <numeric>

#include "check.h"

namespace {

int thrust_algorithms() {
  std::vector<int> host(5000);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * 7919 % 10007) - 5000;
  thrust::device_vector<int> device(host.begin(), host.end());
  int wrong = thrust::reduce(device.begin(), device.end()) != std::accumulate(host.begin(), host.end(), 0);
  thrust::sort(device.begin(), device.end());
  std::sort(host.begin(), host.end());
  thrust::inclusive_scan(device.begin(), device.end(), device.begin());
  std::partial_sum(host.begin(), host.end(), host.begin());
  std::vector<int> got(host.size());
  thrust::copy(device.begin(), device.end(), got.begin());
  for (size_t i = 0; i < host.size(); ++i) wrong += got[i] != host[i];
  return wrong;
}

__global__ void block_algorithms(const int* in, int* sorted, int* total) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Sort = cub::BlockRadixSort<int, 128, 2>;
  __shared__ union {
    Reduce::TempStorage reduce;
    Sort::TempStorage sort;
  } storage;
  int items[2] = {in[threadIdx.x * 2], in[threadIdx.x * 2 + 1]};
  const int sum = Reduce(storage.reduce).Sum(items);
  if (threadIdx.x == 0) *total = sum;
  __syncthreads();
  Sort(storage.sort).Sort(items);
  sorted[threadIdx.x * 2] = items[0];
  sorted[threadIdx.x * 2 + 1] = items[1];
}

int cub_block() {
  std::vector<int> in(256);
  for (int i = 0; i < 256; ++i) in[i] = i * 97 % 251 - 100;
  int *sorted = device_zeros<int>(256), *total = device_zeros<int>(1);
  block_algorithms<<<1, 128>>>(device_copy(in), sorted, total);
  const auto got = host_copy(sorted, 256);
  int wrong = host_copy(total, 1)[0] != std::accumulate(in.begin(), in.end(), 0);
  std::sort(in.begin(), in.end());
  for (int i = 0; i < 256; ++i) wrong += got[i] != in[i];
  return wrong;
}

__device__ cuda::atomic<int, cuda::thread_scope_device> tickets{0};

__global__ void barriers(const int* in, int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) int tile[256];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof tile), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  const int value = tile[255 - threadIdx.x];
  barrier.arrive_and_wait();
  tile[threadIdx.x] = value * 3;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, tile, sizeof tile);
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>{});
  }
  tickets.fetch_add(1, cuda::memory_order_acq_rel);
  const cuda::std::complex<float> z(static_cast<float>(threadIdx.x), 1.0f);
  out[256 + threadIdx.x] = static_cast<int>((z * z).real());
  if (threadIdx.x == 0) {
    while (tickets.load(cuda::memory_order_acquire) < 256) {
    }
    out[512] = tickets.load();
  }
}

int cuda_barrier() {
  std::vector<int> in(256);
  std::iota(in.begin(), in.end(), 10);
  int* out = device_zeros<int>(513);
  barriers<<<1, 256>>>(device_copy(in), out);
  const auto got = host_copy(out, 513);
  int wrong = got[512] != 256;
  for (int i = 0; i < 256; ++i) wrong += (got[i] != (265 - i) * 3) + (got[256 + i] != i * i - 1);
  return wrong;
}

int cub_device() {
  std::vector<float> in(10000, 0.5f);
  float *device = device_copy(in), *sum = device_zeros<float>(1);
  size_t bytes = 0;
  REQUIRE_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, device, sum, static_cast<int>(in.size())));
  void* temporary = nullptr;
  REQUIRE_CUDA(cudaMallocAsync(&temporary, bytes, nullptr));
  REQUIRE_CUDA(cub::DeviceReduce::Sum(temporary, bytes, device, sum, static_cast<int>(in.size())));
  const int wrong = host_copy(sum, 1)[0] != 5000.0f;
  REQUIRE_CUDA(cudaFreeAsync(temporary, nullptr));
  return wrong;
}

constexpr Case kCases[] = {{"thrust", thrust_algorithms},
                           {"cub_block", cub_block},
                           {"cub_device", cub_device},
                           {"cuda_barrier", cuda_barrier}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
