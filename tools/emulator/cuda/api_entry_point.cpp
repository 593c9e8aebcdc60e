// Looking up driver functions. Compiled twice: see kPerThreadDefault.
#include "cuda/api.h"
#include "cuda/driver_table.h"

using namespace emu::cuda;

namespace {

cudaError_t find(const char* symbol, void** function, int version, unsigned long long flags,
                 cudaDriverEntryPointQueryResult* status) {
  return host_call([&](Runtime&) {
    if (!symbol || !function || flags > cudaEnablePerThreadDefaultStream) return cudaErrorInvalidValue;
    *function = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    if (const DriverFunction* found = find_driver_function(symbol)) {
      result = version < found->since ? cudaDriverEntryPointVersionNotSufficent : cudaDriverEntryPointSuccess;
      if (result == cudaDriverEntryPointSuccess) *function = found->function;
    } else {
      report(std::string("cudaGetDriverEntryPoint: the driver function ") + symbol + " is not emulated");
    }
    if (status) *status = result;
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return find(symbol, function, static_cast<int>(version), flags, status);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return find(symbol, function, CUDART_VERSION, flags, status);
}

}  // extern "C"
