// Kernels that stay: clusterlaunchcontrol, warps that trade registers, dependent launches.
#include "barrier.cuh"
#include "check.h"

namespace {

// Each CTA squares its own tile, then takes over tiles of CTAs that have not started.
__global__ void __launch_bounds__(96) steal(const int* in, int* out, int* owners) {
  __shared__ alignas(16) uint4 response;
  __shared__ uint64_t answered, taken;
  if (threadIdx.x == 0) {
    mbarrier::init(&answered, 1);
    mbarrier::init(&taken, 64);
    mbarrier::fence_init();
  }
  __syncthreads();
  const bool scheduler = threadIdx.x >= 64;
  if (scheduler) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  }
  int tile = static_cast<int>(blockIdx.x);
  for (uint32_t phase = 0;; phase ^= 1) {
    if (threadIdx.x == 64) {
      mbarrier::arrive_expect_tx(&answered, 16);
      asm volatile(
          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::
              "r"(shared_address(&response)),
          "r"(shared_address(&answered))
          : "memory");
    }
    if (!scheduler) {
      out[tile * 64 + threadIdx.x] = in[tile * 64 + threadIdx.x] * in[tile * 64 + threadIdx.x];
      if (threadIdx.x == 0) owners[tile] = static_cast<int>(blockIdx.x) + 1;
    }
    mbarrier::wait(&answered, phase);
    uint32_t got = 0, next = 0;
    asm volatile(
        "{.reg .b128 r; .reg .pred p; .reg .b32 y, z; ld.shared.b128 r, [%2];\n"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, y, z, _}, r;}"
        : "=r"(got), "+r"(next)
        : "r"(shared_address(&response))
        : "memory");
    if (!scheduler) mbarrier::arrive(&taken);
    if (threadIdx.x == 64) mbarrier::wait(&taken, phase);
    fence_proxy_async_shared();
    if (!got) break;
    tile = static_cast<int>(next);
  }
}

int launch_control() {
  const int tiles = 1000;
  std::vector<int> in(tiles * 64);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i % 1000);
  int *out = device_zeros<int>(in.size()), *owners = device_zeros<int>(tiles);
  // Two CTAs of this size fit an SM, so most of the grid has to wait.
  const int shared = 100 * 1024;
  REQUIRE_CUDA(cudaFuncSetAttribute(steal, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  steal<<<tiles, 96, shared>>>(device_copy(in), out, owners);
  const auto got = host_copy(out, in.size());
  const auto who = host_copy(owners, tiles);
  int wrong = 0, stolen = 0;
  for (size_t i = 0; i < in.size(); ++i) wrong += got[i] != in[i] * in[i];
  for (int t = 0; t < tiles; ++t) stolen += who[t] != t + 1;
  return wrong + (stolen == 0);
}

__global__ void first(int* data) {
  data[threadIdx.x] = static_cast<int>(threadIdx.x);
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__global__ void second(const int* data, int* out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = data[threadIdx.x] * 2;
}

int dependent_launch() {
  int *data = device_zeros<int>(64), *out = device_zeros<int>(64);
  cudaStream_t stream;
  REQUIRE_CUDA(cudaStreamCreate(&stream));
  first<<<1, 64, 0, stream>>>(data);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{dim3(1), dim3(64), 0, stream, &attribute, 1};
  REQUIRE_CUDA(cudaLaunchKernelEx(&config, second, static_cast<const int*>(data), out));
  const auto got = host_copy(out, 64);
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += got[i] != 2 * i;
  return wrong;
}

// Roles that hand a buffer over through named barriers with different thread counts.
__global__ void __launch_bounds__(128) relay(int* out) {
  __shared__ int buffer[2][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 64;");
  }
  for (int step = 0; step < 6; ++step) {
    const int slot = step % 2;
    if (warp == 0) {
      if (step >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + slot) : "memory");
      buffer[slot][lane] = step * 100 + lane;
      asm volatile("bar.arrive %0, 128;" ::"r"(1 + slot) : "memory");
    } else {
      asm volatile("bar.sync %0, 128;" ::"r"(1 + slot) : "memory");
      if (warp == 1 + step % 3) out[step * 32 + lane] = buffer[slot][31 - lane];
      if (step < 4) asm volatile("bar.arrive %0, 128;" ::"r"(3 + slot) : "memory");
    }
  }
}

int named_barriers() {
  int* out = device_zeros<int>(6 * 32);
  relay<<<1, 128>>>(out);
  const auto got = host_copy(out, 6 * 32);
  int wrong = 0;
  for (int i = 0; i < 6 * 32; ++i) wrong += got[i] != i / 32 * 100 + 31 - i % 32;
  return wrong;
}

constexpr Case kCases[] = {{"launch_control", launch_control},
                           {"dependent_launch", dependent_launch},
                           {"named_barriers", named_barriers}};

}  // namespace

int main(int argc, char** argv) { return run_cases(kCases, argc, argv); }
