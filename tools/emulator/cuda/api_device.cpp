// The device: selection, properties, limits, synchronisation.
#include <cstdio>

#include "cuda/api.h"
#include "cuda/device_properties.h"

using namespace emu::cuda;

namespace {

// Device 0 is the only one, so a thread's current device needs no storage.
constexpr int kDeviceCount = 1;

bool is_device(int device) { return device >= 0 && device < kDeviceCount; }

unsigned& device_flags() {
  static unsigned flags = cudaDeviceMapHost;
  return flags;
}

template <class T>
cudaError_t give(T* out, T value) {
  if (!out) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return host_call([&](Runtime&) { return give(count, kDeviceCount); });
}

cudaError_t cudaGetDevice(int* device) {
  return host_call([&](Runtime&) { return give(device, 0); });
}

cudaError_t cudaSetDevice(int device) {
  return host_call([&](Runtime&) { return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return host_call([&](Runtime&) {
    if (count != 0 && (!devices || devices[0] != 0 || count > kDeviceCount)) return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return host_call([&](Runtime&) {
    device_flags() = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return host_call([&](Runtime&) { return give(flags, device_flags()); });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return host_call([&](Runtime& runtime) {
    if (!properties) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *properties = device_properties(runtime.machine());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return host_call([&](Runtime& runtime) {
    if (!value) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const auto found = runtime.machine().attributes.find(attribute);
    return found == runtime.machine().attributes.end() ? cudaErrorInvalidValue : give(value, found->second);
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return host_call([&](Runtime&) { return properties ? give(device, 0) : cudaErrorInvalidValue; });
}

cudaError_t cudaDeviceGetPCIBusId(char* out, int length, int device) {
  return host_call([&](Runtime& runtime) {
    if (!out || length <= 0) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const int written = std::snprintf(out, length, "%s", pci_bus_id(runtime.machine()).c_str());
    return written < length ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return host_call([&](Runtime& runtime) {
    if (!device || !id) return cudaErrorInvalidValue;
    return id == pci_bus_id(runtime.machine()) ? give(device, 0) : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return device_call([](Runtime& runtime) {
    if (runtime.engine_started()) runtime.engine().flush_output();
    runtime.streams().host_waited(runtime.streams().device_ns());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  return host_call([](Runtime& runtime) {
    runtime.reset();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return device_call([&](Runtime& runtime) {
    const auto found = runtime.limits().find(limit);
    if (found == runtime.limits().end()) return value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
    return give(value, found->second);
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return device_call([&](Runtime& runtime) {
    if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
    const auto found = runtime.limits().find(limit);
    if (found == runtime.limits().end()) return cudaErrorInvalidValue;
    found->second = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return device_call([&](Runtime&) { return give(config, cudaFuncCachePreferNone); });
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return device_call([](Runtime&) { return cudaSuccess; });
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return device_call([&](Runtime&) { return give(config, cudaSharedMemBankSizeFourByte); });
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return device_call([](Runtime&) { return cudaSuccess; });
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return device_call([](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return device_call(
      [&](Runtime&) { return is_device(device) && is_device(peer) ? give(can, 0) : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return device_call(
      [&](Runtime&) { return is_device(peer) ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return device_call(
      [&](Runtime&) { return is_device(peer) ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice; });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return host_call([&](Runtime&) { return give(version, 13000); });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return host_call([&](Runtime&) { return give(version, 13000); });
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// A profiler would attach to a GPU; there is none, and nothing a program computes depends on it.
cudaError_t cudaProfilerStart() {
  return host_call([](Runtime&) { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return host_call([](Runtime&) { return cudaSuccess; });
}

}  // extern "C"
