// Modules loaded at run time through the runtime API.
#include "cuda/api.h"
#include "cuda/module_image.h"

using namespace emu::cuda;

namespace {

Module* module_of(cudaLibrary_t library) { return reinterpret_cast<Module*>(library); }

template <class Body>
cudaError_t library_call(cudaLibrary_t library, Body&& body) {
  return device_call([&](Runtime& runtime) {
    Module* module = module_of(library);
    return runtime.registry().contains(module) ? body(runtime, *module) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t variable_address(Runtime& runtime, Module& module, const char* name, void** pointer,
                             size_t* bytes) {
  if (!name) return cudaErrorInvalidValue;
  Variable* variable = variable_named(runtime, module, name);
  if (!variable) return cudaErrorSymbolNotFound;
  if (pointer) *pointer = reinterpret_cast<void*>(variable->info->address);
  if (bytes) *bytes = variable->info->size;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return device_call([&](Runtime& runtime) {
    Module* module = nullptr;
    const cudaError_t error = library ? load_image(runtime, code, &module) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *library = reinterpret_cast<cudaLibrary_t>(module);
    return error;
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption*, void**,
                                    unsigned, cudaLibraryOption*, void**, unsigned) {
  return device_call([&](Runtime& runtime) {
    Module* module = nullptr;
    const cudaError_t error = library ? load_file(runtime, path, &module) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *library = reinterpret_cast<cudaLibrary_t>(module);
    return error;
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return library_call(library, [](Runtime& runtime, Module& module) {
    runtime.unload(&module);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return library_call(library, [&](Runtime& runtime, Module& module) {
    if (!kernel || !name) return cudaErrorInvalidValue;
    Kernel* found = kernel_named(runtime, module, name);
    if (!found) return cudaErrorSymbolNotFound;
    *kernel = reinterpret_cast<cudaKernel_t>(found);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  return library_call(library, [&](Runtime& runtime, Module& module) {
    return variable_address(runtime, module, name, pointer, bytes);
  });
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  return cudaLibraryGetGlobal(pointer, bytes, library, name);
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return library_call(library, [&](Runtime& runtime, Module& module) {
    if (!count) return cudaErrorInvalidValue;
    *count = static_cast<unsigned>(runtime.engine().entries(module.handle).size());
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  return library_call(library, [&](Runtime& runtime, Module& module) {
    if (!kernels) return cudaErrorInvalidValue;
    for (const std::string& name : runtime.engine().entries(module.handle)) {
      if (count-- == 0) break;
      *kernels++ = reinterpret_cast<cudaKernel_t>(runtime.registry().add_kernel(module, nullptr, name));
    }
    return cudaSuccess;
  });
}

}  // extern "C"
