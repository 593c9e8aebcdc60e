// Driver API: modules, functions, launches, occupancy.
#include "cuda/driver.h"
#include "cuda/launch.h"
#include "cuda/module_image.h"
#include "cuda/occupancy.h"

using namespace emu::cuda;

namespace {

Module* module_of(CUmodule handle) { return reinterpret_cast<Module*>(handle); }

template <class Body>
CUresult module_call(CUmodule handle, Body&& body) {
  return driver_call([&] {
    return device_call([&](Runtime& runtime) {
      Module* module = module_of(handle);
      return runtime.registry().contains(module) ? body(runtime, *module) : cudaErrorInvalidResourceHandle;
    });
  });
}

CUresult load(CUmodule* out, const void* image) {
  return driver_call([&] {
    return device_call([&](Runtime& runtime) {
      return out ? load_image(runtime, image, reinterpret_cast<Module**>(out)) : cudaErrorInvalidValue;
    });
  });
}

// Parameters come as one pointer each, or packed in a buffer named by `extra`.
struct PackedParameters {
  const std::byte* data = nullptr;
  size_t bytes = 0;
};

CUresult read_extra(void** extra, PackedParameters& packed) {
  for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      packed.data = static_cast<const std::byte*>(extra[i + 1]);
    } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      packed.bytes = *static_cast<const size_t*>(extra[i + 1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return packed.data ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult launch_function(CUfunction function, const LaunchShape& plain,
                         std::span<const cudaLaunchAttribute> attributes, CUstream handle, void** args,
                         void** extra) {
  PackedParameters packed;
  if (args && extra) return CUDA_ERROR_INVALID_VALUE;
  if (extra) {
    if (const CUresult error = read_extra(extra, packed)) return error;
  }
  return driver_call([&] {
    return kernel_call(function, [&](Runtime& runtime, Kernel& kernel) {
      Stream* stream = runtime.streams().resolve(handle, false);
      if (!stream) return cudaErrorInvalidResourceHandle;
      LaunchShape shape = plain;
      if (const cudaError_t error = read_attributes(runtime, attributes, shape)) return error;
      if (extra) return launch_packed(runtime, kernel, shape, *stream, {packed.data, packed.bytes});
      return launch(runtime, kernel, shape, *stream, args);
    });
  });
}

LaunchShape shape_of(const CUlaunchConfig& config) {
  LaunchShape shape;
  shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  shape.dynamic_shared = config.sharedMemBytes;
  return shape;
}

// Both APIs define launch attributes with the same ids and layout.
std::span<const cudaLaunchAttribute> attributes_of(const CUlaunchConfig& config) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  return {reinterpret_cast<const cudaLaunchAttribute*>(config.attrs), config.attrs ? config.numAttrs : 0};
}

cudaLaunchConfig_t runtime_config(const CUlaunchConfig& config) {
  cudaLaunchConfig_t result{};
  result.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
  result.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
  result.dynamicSmemBytes = config.sharedMemBytes;
  result.stream = config.hStream;
  result.attrs = const_cast<cudaLaunchAttribute*>(attributes_of(config).data());
  result.numAttrs = config.attrs ? config.numAttrs : 0;
  return result;
}

cudaError_t function_attribute(const cudaFuncAttributes& a, int attribute, int* value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = a.maxThreadsPerBlock;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(a.sharedSizeBytes);
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(a.constSizeBytes);
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(a.localSizeBytes);
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = a.numRegs;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = a.ptxVersion;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = a.binaryVersion;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = a.cacheModeCA;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = a.maxDynamicSharedSizeBytes;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = a.preferredShmemCarveout;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = a.clusterDimMustBeSet;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      *value = a.requiredClusterWidth;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      *value = a.requiredClusterHeight;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = a.requiredClusterDepth;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = a.nonPortableClusterSizeAllowed;
      return cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = a.clusterSchedulingPolicyPreference;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

CUresult get_attribute(int* value, int attribute, const void* function) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return driver_call([&] {
    cudaFuncAttributes attributes{};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, function);
    return error == cudaSuccess ? function_attribute(attributes, attribute, value) : error;
  });
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* out, const void* image) { return load(out, image); }
CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned, CUjit_option*, void**) {
  return load(out, image);
}
CUresult cuModuleLoadFatBinary(CUmodule* out, const void* image) { return load(out, image); }

CUresult cuModuleLoad(CUmodule* out, const char* path) {
  return driver_call([&] {
    return device_call([&](Runtime& runtime) {
      return out ? load_file(runtime, path, reinterpret_cast<Module**>(out)) : cudaErrorInvalidValue;
    });
  });
}

CUresult cuModuleUnload(CUmodule handle) {
  return module_call(handle, [](Runtime& runtime, Module& module) {
    runtime.unload(&module);
    return cudaSuccess;
  });
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  return module_call(handle, [&](Runtime& runtime, Module& module) {
    if (!out || !name) return cudaErrorInvalidValue;
    Kernel* kernel = kernel_named(runtime, module, name);
    if (!kernel) return cudaErrorSymbolNotFound;
    *out = reinterpret_cast<CUfunction>(kernel);
    return cudaSuccess;
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return module_call(handle, [&](Runtime& runtime, Module& module) {
    if (!count) return cudaErrorInvalidValue;
    *count = static_cast<unsigned>(runtime.engine().entries(module.handle).size());
    return cudaSuccess;
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* out, size_t* bytes, CUmodule handle, const char* name) {
  return module_call(handle, [&](Runtime& runtime, Module& module) {
    if (!name) return cudaErrorInvalidValue;
    const Variable* variable = variable_named(runtime, module, name);
    if (!variable) return cudaErrorSymbolNotFound;
    if (out) *out = variable->info->address;
    if (bytes) *bytes = variable->info->size;
    return cudaSuccess;
  });
}

CUresult cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return load(reinterpret_cast<CUmodule*>(out), code);
}

CUresult cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  return cuModuleLoad(reinterpret_cast<CUmodule*>(out), path);
}

CUresult cuLibraryUnload(CUlibrary library) { return cuModuleUnload(reinterpret_cast<CUmodule>(library)); }
CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return cuModuleGetFunction(reinterpret_cast<CUfunction*>(out), reinterpret_cast<CUmodule>(library), name);
}
CUresult cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* out, size_t* bytes, CUlibrary library, const char* name) {
  return cuModuleGetGlobal(out, bytes, reinterpret_cast<CUmodule>(library), name);
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return cuModuleGetFunctionCount(count, reinterpret_cast<CUmodule>(library));
}
CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  return driver_call([&] { return cudaGetFuncBySymbol(out, kernel); });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return get_attribute(value, attribute, function);
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  return get_attribute(value, attribute, kernel);
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return driver_call(
      [&] { return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value); });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
  return driver_call(
      [&] { return cudaFuncSetAttribute(kernel, static_cast<cudaFuncAttribute>(attribute), value); });
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return driver_call([&] { return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone); });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return driver_call([&] { return cudaFuncGetName(name, function); });
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return driver_call([&] { return cudaFuncGetName(name, kernel); });
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return driver_call([&] { return cudaFuncGetParamInfo(function, index, offset, size); });
}
CUresult cuFuncGetModule(CUmodule* out, CUfunction function) {
  return driver_call([&] {
    return kernel_call(function, [&](Runtime&, Kernel& kernel) {
      if (!out) return cudaErrorInvalidValue;
      *out = reinterpret_cast<CUmodule>(kernel.module);
      return cudaSuccess;
    });
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return driver_call(
      [&] { return kernel_call(function, [](Runtime& r, Kernel& k) { return r.info(k), cudaSuccess; }); });
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** args, void** extra) {
  LaunchShape shape;
  shape.grid = {gx, gy, gz};
  shape.block = {bx, by, bz};
  shape.dynamic_shared = shared;
  return launch_function(function, shape, {}, stream, args, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream, void** args) {
  LaunchShape shape;
  shape.grid = {gx, gy, gz};
  shape.block = {bx, by, bz};
  shape.dynamic_shared = shared;
  shape.cooperative = true;
  return launch_function(function, shape, {}, stream, args, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** args, void** extra) {
  if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  return launch_function(function, shape_of(*config), attributes_of(*config), config->hStream, args, extra);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return driver_call([&] { return cudaLaunchHostFunc(stream, function, data); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared) {
  return driver_call(
      [&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared); });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                              size_t shared, unsigned flags) {
  return driver_call([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags);
  });
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                 int threads) {
  return driver_call(
      [&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads); });
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  const cudaLaunchConfig_t translated = runtime_config(*config);
  return driver_call([&] { return cudaOccupancyMaxActiveClusters(clusters, function, &translated); });
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  const cudaLaunchConfig_t translated = runtime_config(*config);
  return driver_call([&] { return cudaOccupancyMaxPotentialClusterSize(size, function, &translated); });
}

}  // extern "C"
