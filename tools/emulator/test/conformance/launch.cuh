// Launching a case's kernel, with device buffers that live until the case has ended.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "table.h"

namespace conformance {

using u16 = unsigned short;
using u32 = uint32_t;
using u64 = unsigned long long;

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(status));
  throw status;
}

// Device memory freed by release_buffers().
void* device_buffer(size_t bytes);
void release_buffers();

template <typename T>
T* to_device(const std::vector<T>& values) {
  T* copy = static_cast<T*>(device_buffer(values.size() * sizeof(T)));
  check(cudaMemcpy(copy, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "copy of operands");
  return copy;
}

inline void append(std::vector<uint64_t>& all, const std::vector<uint64_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

struct Shape {
  dim3 grid = 1, block = 32;
  unsigned cluster = 1;
  size_t dynamic_shared = 0;  // bytes
};

template <typename... Args>
void launch(void (*kernel)(Args...), const Shape& shape, std::type_identity_t<Args>... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid, config.blockDim = shape.block, config.dynamicSmemBytes = shape.dynamic_shared;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = shape.cluster, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute, config.numAttrs = shape.cluster > 1;
  if (shape.dynamic_shared > 48 << 10)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.dynamic_shared),
          "dynamic shared memory");
  if (shape.cluster > 8)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cluster size");
  check(cudaLaunchKernelEx(&config, kernel, args...), "launch");
}

// A case whose kernel takes the output pointer only.
inline void add_kernel(Table& table, const std::string& name, void (*kernel)(u32*), size_t words,
                       Shape shape = {}) {
  Case added;
  added.name = name, added.words = words;
  added.run = [=](u32* out) { launch(kernel, shape, out); };
  table.push_back(added);
}

}  // namespace conformance
