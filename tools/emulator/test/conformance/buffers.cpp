#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace conformance {
namespace {
std::vector<void*> buffers;
}

void* device_buffer(size_t bytes) {
  void* buffer = nullptr;
  const cudaError_t status = cudaMalloc(&buffer, bytes);
  if (status != cudaSuccess) throw status;
  buffers.push_back(buffer);
  return buffer;
}
void release_buffers() {
  for (void* buffer : buffers) cudaFree(buffer);
  buffers.clear();
}

}  // namespace conformance
