#include "cuda/driver_table.h"

#include <cuda.h>

namespace emu::cuda {
namespace {

// cuda.h renames functions to their current version by macros: the plain spelling is the lookup name, the
// expanded one the exported symbol.
#define EMU_TEXT(x) #x
#define EMU_EXPANDED(x) EMU_TEXT(x)
#define EMU_DRIVER(name, since) \
  { #name, EMU_EXPANDED(name), reinterpret_cast < void*>(&name), since }

const DriverFunction kFunctions[] = {
    EMU_DRIVER(cuCtxCreate, 0),
    EMU_DRIVER(cuCtxDestroy, 0),
    EMU_DRIVER(cuCtxGetApiVersion, 0),
    EMU_DRIVER(cuCtxGetCurrent, 0),
    EMU_DRIVER(cuCtxGetDevice, 0),
    EMU_DRIVER(cuCtxGetFlags, 0),
    EMU_DRIVER(cuCtxGetLimit, 0),
    EMU_DRIVER(cuCtxGetStreamPriorityRange, 0),
    EMU_DRIVER(cuCtxPopCurrent, 0),
    EMU_DRIVER(cuCtxPushCurrent, 0),
    EMU_DRIVER(cuCtxSetCacheConfig, 0),
    EMU_DRIVER(cuCtxSetCurrent, 0),
    EMU_DRIVER(cuCtxSetLimit, 0),
    EMU_DRIVER(cuCtxSynchronize, 0),
    EMU_DRIVER(cuDeviceComputeCapability, 0),
    EMU_DRIVER(cuDeviceGet, 0),
    EMU_DRIVER(cuDeviceGetAttribute, 0),
    EMU_DRIVER(cuDeviceGetByPCIBusId, 0),
    EMU_DRIVER(cuDeviceGetCount, 0),
    EMU_DRIVER(cuDeviceGetName, 0),
    EMU_DRIVER(cuDeviceGetPCIBusId, 0),
    EMU_DRIVER(cuDeviceGetUuid, 0),
    EMU_DRIVER(cuDevicePrimaryCtxGetState, 0),
    EMU_DRIVER(cuDevicePrimaryCtxRelease, 0),
    EMU_DRIVER(cuDevicePrimaryCtxReset, 0),
    EMU_DRIVER(cuDevicePrimaryCtxRetain, 0),
    EMU_DRIVER(cuDevicePrimaryCtxSetFlags, 0),
    EMU_DRIVER(cuDeviceTotalMem, 0),
    EMU_DRIVER(cuDriverGetVersion, 0),
    EMU_DRIVER(cuEventCreate, 0),
    EMU_DRIVER(cuEventDestroy, 0),
    EMU_DRIVER(cuEventElapsedTime, 0),
    EMU_DRIVER(cuEventQuery, 0),
    EMU_DRIVER(cuEventRecord, 0),
    EMU_DRIVER(cuEventRecordWithFlags, 0),
    EMU_DRIVER(cuEventSynchronize, 0),
    EMU_DRIVER(cuFuncGetAttribute, 0),
    EMU_DRIVER(cuFuncGetModule, 0),
    EMU_DRIVER(cuFuncGetName, 0),
    EMU_DRIVER(cuFuncGetParamInfo, 0),
    EMU_DRIVER(cuFuncLoad, 0),
    EMU_DRIVER(cuFuncSetAttribute, 0),
    EMU_DRIVER(cuFuncSetCacheConfig, 0),
    EMU_DRIVER(cuGetErrorName, 0),
    EMU_DRIVER(cuGetErrorString, 0),
    EMU_DRIVER(cuGetExportTable, 0),
    EMU_DRIVER(cuGetProcAddress, 0),
    EMU_DRIVER(cuInit, 0),
    EMU_DRIVER(cuKernelGetAttribute, 0),
    EMU_DRIVER(cuKernelGetFunction, 0),
    EMU_DRIVER(cuKernelGetName, 0),
    EMU_DRIVER(cuKernelSetAttribute, 0),
    EMU_DRIVER(cuLaunchCooperativeKernel, 0),
    EMU_DRIVER(cuLaunchHostFunc, 0),
    EMU_DRIVER(cuLaunchKernel, 0),
    EMU_DRIVER(cuLaunchKernelEx, 11060),
    EMU_DRIVER(cuLibraryGetGlobal, 0),
    EMU_DRIVER(cuLibraryGetKernel, 0),
    EMU_DRIVER(cuLibraryGetKernelCount, 0),
    EMU_DRIVER(cuLibraryGetModule, 0),
    EMU_DRIVER(cuLibraryLoadData, 0),
    EMU_DRIVER(cuLibraryLoadFromFile, 0),
    EMU_DRIVER(cuLibraryUnload, 0),
    EMU_DRIVER(cuMemAlloc, 0),
    EMU_DRIVER(cuMemAllocAsync, 0),
    EMU_DRIVER(cuMemAllocHost, 0),
    EMU_DRIVER(cuMemAllocManaged, 0),
    EMU_DRIVER(cuMemAllocPitch, 0),
    EMU_DRIVER(cuMemFree, 0),
    EMU_DRIVER(cuMemFreeAsync, 0),
    EMU_DRIVER(cuMemFreeHost, 0),
    EMU_DRIVER(cuMemGetAddressRange, 0),
    EMU_DRIVER(cuMemGetInfo, 0),
    EMU_DRIVER(cuMemHostAlloc, 0),
    EMU_DRIVER(cuMemHostGetDevicePointer, 0),
    EMU_DRIVER(cuMemHostGetFlags, 0),
    EMU_DRIVER(cuMemHostRegister, 0),
    EMU_DRIVER(cuMemHostUnregister, 0),
    EMU_DRIVER(cuMemcpy, 0),
    EMU_DRIVER(cuMemcpy2D, 0),
    EMU_DRIVER(cuMemcpy2DAsync, 0),
    EMU_DRIVER(cuMemcpy2DUnaligned, 0),
    EMU_DRIVER(cuMemcpyAsync, 0),
    EMU_DRIVER(cuMemcpyDtoD, 0),
    EMU_DRIVER(cuMemcpyDtoDAsync, 0),
    EMU_DRIVER(cuMemcpyDtoH, 0),
    EMU_DRIVER(cuMemcpyDtoHAsync, 0),
    EMU_DRIVER(cuMemcpyHtoD, 0),
    EMU_DRIVER(cuMemcpyHtoDAsync, 0),
    EMU_DRIVER(cuMemsetD16, 0),
    EMU_DRIVER(cuMemsetD16Async, 0),
    EMU_DRIVER(cuMemsetD32, 0),
    EMU_DRIVER(cuMemsetD32Async, 0),
    EMU_DRIVER(cuMemsetD8, 0),
    EMU_DRIVER(cuMemsetD8Async, 0),
    EMU_DRIVER(cuModuleGetFunction, 0),
    EMU_DRIVER(cuModuleGetFunctionCount, 0),
    EMU_DRIVER(cuModuleGetGlobal, 0),
    EMU_DRIVER(cuModuleGetLoadingMode, 0),
    EMU_DRIVER(cuModuleLoad, 0),
    EMU_DRIVER(cuModuleLoadData, 0),
    EMU_DRIVER(cuModuleLoadDataEx, 0),
    EMU_DRIVER(cuModuleLoadFatBinary, 0),
    EMU_DRIVER(cuModuleUnload, 0),
    EMU_DRIVER(cuOccupancyAvailableDynamicSMemPerBlock, 0),
    EMU_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, 0),
    EMU_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 0),
    EMU_DRIVER(cuOccupancyMaxActiveClusters, 0),
    EMU_DRIVER(cuOccupancyMaxPotentialClusterSize, 0),
    EMU_DRIVER(cuPointerGetAttribute, 0),
    EMU_DRIVER(cuPointerGetAttributes, 0),
    EMU_DRIVER(cuStreamCreate, 0),
    EMU_DRIVER(cuStreamCreateWithPriority, 0),
    EMU_DRIVER(cuStreamDestroy, 0),
    EMU_DRIVER(cuStreamGetFlags, 0),
    EMU_DRIVER(cuStreamGetPriority, 0),
    EMU_DRIVER(cuStreamQuery, 0),
    EMU_DRIVER(cuStreamSynchronize, 0),
    EMU_DRIVER(cuStreamWaitEvent, 0),
    EMU_DRIVER(cuTensorMapEncodeIm2col, 12000),
    EMU_DRIVER(cuTensorMapEncodeTiled, 12000),
    EMU_DRIVER(cuTensorMapReplaceAddress, 12000),
};

}  // namespace

std::span<const DriverFunction> driver_functions() { return kFunctions; }

const DriverFunction* find_driver_function(std::string_view name) {
  for (const DriverFunction& function : kFunctions) {
    if (name == function.name || name == function.exported) return &function;
  }
  return nullptr;
}

}  // namespace emu::cuda

// How libcuda.so.1 reaches the implementation here; null for functions that are not emulated.
extern "C" void* emuDriverFunction(const char* exported) {
  for (const emu::cuda::DriverFunction& function : emu::cuda::driver_functions()) {
    if (std::string_view(exported) == function.exported) return function.function;
  }
  return nullptr;
}
