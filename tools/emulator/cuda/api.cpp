#include "cuda/api.h"

#include <fmt/format.h>

namespace emu::cuda {

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error() = error;
  return error;
}

cudaError_t error_of_current_exception() {
  try {
    throw;
  } catch (const EngineError& error) {
    report(error.what());
    return static_cast<cudaError_t>(error.status);
  } catch (const FatBinaryError& error) {
    report(error.what());
    return error.kind == FatBinaryError::Kind::kNoPtx ? cudaErrorNoKernelImageForDevice
                                                      : cudaErrorInvalidKernelImage;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    report(error.what());
    return cudaErrorUnknown;
  }
}

cudaError_t not_supported(std::string_view name, std::string_view reason) {
  report(fmt::format("{}: {}", name, reason));
  return cudaErrorNotSupported;
}

}  // namespace emu::cuda
