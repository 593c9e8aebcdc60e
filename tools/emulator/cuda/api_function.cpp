// Attributes of kernels and occupancy.
#include <algorithm>

#include "cuda/api.h"
#include "cuda/launch.h"
#include "cuda/occupancy.h"

using namespace emu::cuda;

namespace {

cudaError_t set_cluster_extent(Kernel& kernel, const KernelInfo& info, uint32_t Dim3::*extent, int value) {
  if (value < 0) return cudaErrorInvalidValue;
  const Dim3 required = info.req_cluster.value_or(Dim3{0, 0, 0});
  if (info.req_cluster && required.*extent != static_cast<uint32_t>(value)) return cudaErrorInvalidValue;
  kernel.cluster_attribute.*extent = static_cast<uint32_t>(value);
  return cudaSuccess;
}

cudaError_t set_attribute(Runtime& runtime, Kernel& kernel, cudaFuncAttribute attribute, int value) {
  const KernelInfo& info = runtime.info(kernel);
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
      const int64_t limit = int64_t{runtime.machine().shared_per_block_optin()} - info.static_shared;
      if (value < 0 || value > limit) return cudaErrorInvalidValue;
      kernel.max_dynamic_shared = static_cast<uint32_t>(value);
      return cudaSuccess;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      kernel.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
      return set_cluster_extent(kernel, info, &Dim3::x, value);
    case cudaFuncAttributeRequiredClusterHeight:
      return set_cluster_extent(kernel, info, &Dim3::y, value);
    case cudaFuncAttributeRequiredClusterDepth:
      return set_cluster_extent(kernel, info, &Dim3::z, value);
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      kernel.non_portable_cluster = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      kernel.cluster_policy = value;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

void fill_attributes(Runtime& runtime, Kernel& kernel, cudaFuncAttributes& out) {
  const KernelInfo& info = runtime.info(kernel);
  const Dim3 cluster = info.req_cluster.value_or(kernel.cluster_attribute);
  out = {};
  out.sharedSizeBytes = info.static_shared;
  out.constSizeBytes = info.constant_bytes;
  out.localSizeBytes = info.local_bytes;
  out.maxThreadsPerBlock = static_cast<int>(max_threads_per_block(info));
  out.numRegs = static_cast<int>(info.registers);
  out.ptxVersion = static_cast<int>(info.target);
  out.binaryVersion = static_cast<int>(runtime.machine().architecture);
  out.maxDynamicSharedSizeBytes = static_cast<int>(max_dynamic_shared(runtime.machine(), kernel, info));
  out.preferredShmemCarveout = kernel.carveout;
  out.clusterDimMustBeSet = info.explicit_cluster || info.req_cluster.has_value();
  out.requiredClusterWidth = static_cast<int>(cluster.x);
  out.requiredClusterHeight = static_cast<int>(cluster.y);
  out.requiredClusterDepth = static_cast<int>(cluster.z);
  out.clusterSchedulingPolicyPreference = kernel.cluster_policy;
  out.nonPortableClusterSizeAllowed = kernel.non_portable_cluster;
}

uint32_t cluster_size(const Kernel& kernel, const KernelInfo& info, const LaunchShape& shape) {
  if (shape.cluster) return static_cast<uint32_t>(shape.cluster->count());
  if (info.req_cluster) return static_cast<uint32_t>(info.req_cluster->count());
  const Dim3 c = kernel.cluster_attribute;
  return std::max(c.x, 1u) * std::max(c.y, 1u) * std::max(c.z, 1u);
}

cudaError_t max_clusters(Runtime& runtime, Kernel& kernel, const cudaLaunchConfig_t& config, int* clusters) {
  LaunchShape shape;
  if (const cudaError_t error = read_attributes(runtime, {config.attrs, config.numAttrs}, shape))
    return error;
  const KernelInfo& info = runtime.info(kernel);
  const uint32_t size = cluster_size(kernel, info, shape);
  if (size == 0 || size > (kernel.non_portable_cluster ? 16u : 8u)) return cudaErrorInvalidClusterSize;
  const uint32_t threads = static_cast<uint32_t>(to_dim3(config.blockDim).count());
  const uint32_t blocks = blocks_per_sm(runtime.machine(), info, threads, config.dynamicSmemBytes);
  *clusters = static_cast<int>(clusters_on_device(runtime.machine(), size, blocks));
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGetKernel(cudaKernel_t* out, const void* host_function) {
  return kernel_call(host_function, [&](Runtime&, Kernel& kernel) {
    if (!out) return cudaErrorInvalidValue;
    *out = reinterpret_cast<cudaKernel_t>(&kernel);
    return cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* host_function) {
  return kernel_call(host_function, [&](Runtime&, Kernel& kernel) {
    if (!out) return cudaErrorInvalidValue;
    *out = reinterpret_cast<cudaFunction_t>(&kernel);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    return set_attribute(runtime, kernel, attribute, value);
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t handle, cudaFuncAttribute attribute, int value,
                                            int device) {
  return kernel_call(handle, [&](Runtime& runtime, Kernel& kernel) {
    return device == 0 ? set_attribute(runtime, kernel, attribute, value) : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (!attributes) return record(cudaErrorInvalidValue);
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    fill_attributes(runtime, kernel, *attributes);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return kernel_call(function, [&](Runtime&, Kernel& kernel) {
    if (!name) return cudaErrorInvalidValue;
    *name = kernel.name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    const KernelInfo& info = runtime.info(kernel);
    if (!offset || index >= info.params.size()) return cudaErrorInvalidValue;
    *offset = info.params[index].offset;
    if (size) *size = info.params[index].size;
    return cudaSuccess;
  });
}

// New in CUDA 13.5, so not declared by every header this is compiled with.
cudaError_t cudaFuncGetParamCount(const void* function, size_t* count);
cudaError_t cudaFuncGetParamCount(const void* function, size_t* count) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    if (!count) return cudaErrorInvalidValue;
    *count = runtime.info(kernel).params.size();
    return cudaSuccess;
  });
}

// Preferences that no result depends on.
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return kernel_call(function, [](Runtime&, Kernel&) { return cudaSuccess; });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return kernel_call(function, [](Runtime&, Kernel&) { return cudaSuccess; });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int threads, size_t shared,
                                                                   unsigned flags) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    if (!blocks || flags > cudaOccupancyDisableCachingOverride) return cudaErrorInvalidValue;
    *blocks = 0;
    if (threads <= 0) return cudaErrorInvalidValue;
    *blocks = static_cast<int>(blocks_per_sm(runtime.machine(), runtime.info(kernel), threads, shared));
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks,
                                                      int threads) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    const Machine& machine = runtime.machine();
    const KernelInfo& info = runtime.info(kernel);
    if (!bytes || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    if (blocks > static_cast<int>(blocks_per_sm(machine, info, threads, 0))) return cudaErrorInvalidValue;
    // An H200 divides the SM's memory by the blocks without taking off what the system reserves in each.
    const uint32_t share = std::min(machine.shared_per_sm() / blocks, machine.shared_per_block_optin());
    *bytes = share - std::min(share, info.static_shared);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    if (!size || !config) return cudaErrorInvalidValue;
    const uint32_t threads = static_cast<uint32_t>(to_dim3(config->blockDim).count());
    const bool fits =
        blocks_per_sm(runtime.machine(), runtime.info(kernel), threads, config->dynamicSmemBytes) > 0;
    *size = !fits ? 0 : kernel.non_portable_cluster ? 16 : 8;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
    if (!clusters || !config) return cudaErrorInvalidValue;
    return max_clusters(runtime, kernel, *config, clusters);
  });
}

}  // extern "C"
