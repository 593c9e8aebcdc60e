// Driver API: initialisation, errors, devices, contexts. There is one device and one context, always current.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cuda/device_properties.h"
#include "cuda/driver.h"
#include "cuda/driver_table.h"
#include "cuda/error_table.h"

using namespace emu::cuda;

namespace {

int context_object;
CUcontext the_context() { return reinterpret_cast<CUcontext>(&context_object); }

template <class T>
CUresult give(T* out, T value) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

CUresult check(CUdevice device) { return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }
CUresult check(CUcontext context) {
  return context == the_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult cuDriverGetVersion(int* version) { return give(version, 13000); }

CUresult cuGetErrorName(CUresult error, const char** name) {
  const ErrorText* found = find_error(error);
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = found ? found->driver_name : nullptr;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  const ErrorText* found = find_error(error);
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = found && found->driver_name ? found->text : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (std::string_view(symbol) == "cuGetExportTable") {
    // The first thing that a statically linked CUDA runtime cannot do without; it then fails without a word.
    report(
        "cuGetProcAddress: cuGetExportTable, the driver's private interface, is not emulated. A library with "
        "a "
        "CUDA runtime of its own inside (cuBLAS, cuDNN, cuFFT, cuRAND) asks for it: such libraries bring "
        "machine "
        "code, not PTX, and cannot run here");
  } else if (const DriverFunction* found = find_driver_function(symbol)) {
    result =
        version < found->since ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SUCCESS;
    if (result == CU_GET_PROC_ADDRESS_SUCCESS) *function = found->function;
  }
  if (status) *status = result;
  return status || *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// NVRTC asks for a table and does without: there is none.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return ordinal == 0 ? give(device, 0) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int* count) { return give(count, 1); }

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, length, "%s", Runtime::instance().machine().name.c_str());
  return check(device);
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  const cudaDeviceProp properties = device_properties(Runtime::instance().machine());
  std::memcpy(uuid, &properties.uuid, sizeof *uuid);
  return check(device);
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  if (const CUresult error = check(device)) return error;
  return give<size_t>(bytes, Runtime::instance().machine().memory_bytes);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  // The driver knows attributes that the runtime's enum calls reserved; the numbers agree.
  return driver_call(
      [&] { return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device); });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult error = check(device)) return error;
  const int architecture = static_cast<int>(Runtime::instance().machine().architecture);
  if (const CUresult error = give(major, architecture / 10)) return error;
  return give(minor, architecture % 10);
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return driver_call([&] { return cudaDeviceGetPCIBusId(id, length, device); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return driver_call([&] { return cudaDeviceGetByPCIBusId(device, id); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (const CUresult error = check(device)) return error;
  return give(context, the_context());
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return check(device); }

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  if (const CUresult error = check(device)) return error;
  return driver_call([] { return cudaDeviceReset(); });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned) { return check(device); }

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (const CUresult error = check(device)) return error;
  if (const CUresult error = give(flags, 0u)) return error;
  return give(active, 1);
}

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned, CUdevice device) {
  if (const CUresult error = check(device)) return error;
  return give(context, the_context());
}

CUresult cuCtxDestroy(CUcontext context) { return check(context); }
CUresult cuCtxGetCurrent(CUcontext* context) { return give(context, the_context()); }
CUresult cuCtxSetCurrent(CUcontext context) { return context ? check(context) : CUDA_SUCCESS; }
CUresult cuCtxPushCurrent(CUcontext context) { return check(context); }

CUresult cuCtxPopCurrent(CUcontext* context) {
  if (context) *context = the_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) { return give(device, 0); }
CUresult cuCtxGetFlags(unsigned* flags) { return give(flags, 0u); }
CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  if (const CUresult error = check(context)) return error;
  return give(version, 13000u);
}
CUresult cuCtxSynchronize() {
  return driver_call([] { return cudaDeviceSynchronize(); });
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return driver_call([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return driver_call([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache) { return CUDA_SUCCESS; }
CUresult cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  return driver_call([&] { return cudaDeviceGetStreamPriorityRange(lowest, highest); });
}

}  // extern "C"
