// What the kernels share: time stamps of warps, device memory, launches that are waited for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda_check.h"

namespace calibrate {

// SM clock when a warp began and ended the measured part.
struct Stamp {
  long long begin, end;
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    check_cuda(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
    check_cuda(cudaMemset(data_, 0, count * sizeof(T)), "cudaMemset");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check_cuda(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    check_cuda(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

inline void finish(const char* what) {
  check_cuda(cudaGetLastError(), what);
  check_cuda(cudaDeviceSynchronize(), what);
}

// From the first warp's begin to the last warp's end.
inline double span(const std::vector<Stamp>& stamps) {
  long long begin = stamps[0].begin, end = stamps[0].end;
  for (const Stamp& stamp : stamps) {
    begin = std::min(begin, stamp.begin);
    end = std::max(end, stamp.end);
  }
  return static_cast<double>(end - begin);
}

// Runs `kernel` in one CTA, with `bytes` of dynamic shared memory; returns its warps' stamps. The kernel's
// first parameter is where warp w writes stamp w.
template <class... Parameters, class... Arguments>
std::vector<Stamp> stamps_of(void (*kernel)(Stamp*, Parameters...), int threads, int bytes,
                             Arguments... arguments) {
  const DeviceArray<Stamp> stamps((threads + 31) / 32);
  if (bytes > 48 * 1024) {
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
               "shared memory");
  }
  kernel<<<1, threads, bytes>>>(stamps.data(), arguments...);
  finish("kernel");
  return stamps.download();
}

}  // namespace calibrate
