#include "fake_runtime.h"

#include <cstdlib>
#include <cstring>

namespace fake_runtime {
State state;
void reset() { state = {}; }
}  // namespace fake_runtime

using fake_runtime::state;

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return state.device_present ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strncpy(properties->name, state.name.c_str(), sizeof(properties->name) - 1);
  properties->major = state.major;
  properties->minor = state.minor;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  *pointer = std::malloc(bytes);
  ++state.live_allocations;
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  std::free(pointer);
  --state.live_allocations;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind) {
  std::memcpy(target, source, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  std::memset(target, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = nullptr;
  ++state.live_events;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  --state.live_events;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = state.elapsed_ms;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return state.launch_error; }
cudaError_t cudaDeviceSynchronize() { return state.kernel_error; }
const char* cudaGetErrorString(cudaError_t) { return "the fake runtime's error text"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }

int emuGetLastLaunch(EmuLaunchInfo* info) {
  *info = state.launch;
  return state.emulator ? 0 : 1;
}
}
