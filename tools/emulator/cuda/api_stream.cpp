// Creation of streams and events, and what does not depend on the default stream's meaning.
#include <algorithm>

#include "cuda/api.h"

using namespace emu::cuda;

namespace {

// Priorities an H200 offers: 0 (lowest) to -5.
constexpr int kLowestPriority = 0;
constexpr int kHighestPriority = -5;

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  return device_call([&](Runtime& runtime) {
    if (!stream || (flags & ~cudaStreamNonBlocking)) return cudaErrorInvalidValue;
    *stream = runtime.streams().create(flags, std::clamp(priority, kHighestPriority, kLowestPriority));
    return cudaSuccess;
  });
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  return device_call([&](Runtime& runtime) {
    constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!event || (flags & ~kKnown)) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
    *event = runtime.streams().create_event(flags);
    return cudaSuccess;
  });
}

template <class Body>
cudaError_t event_call(cudaEvent_t handle, Body&& body) {
  return device_call([&](Runtime& runtime) {
    Event* event = runtime.streams().find_event(handle);
    return event ? body(runtime, *event) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t elapsed(const Event& start, const Event& end, float* ms) {
  if (!start.recorded || !end.recorded || !start.timed() || !end.timed())
    return cudaErrorInvalidResourceHandle;
  *ms = static_cast<float>((end.time_ns - start.time_ns) * 1e-6);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream(stream, cudaStreamDefault, 0); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create_stream(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return device_call([&](Runtime& runtime) {
    return runtime.streams().destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return device_call([&](Runtime&) {
    if (lowest) *lowest = kLowestPriority;
    if (highest) *highest = kHighestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return create_event(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return create_event(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return device_call([&](Runtime& runtime) {
    return runtime.streams().destroy_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return event_call(handle, [](Runtime&, Event&) { return cudaSuccess; });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return event_call(handle, [](Runtime& runtime, Event& event) {
    if (event.recorded) runtime.streams().host_waited(event.time_ns);
    runtime.engine().flush_output();
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return event_call(start, [&](Runtime& runtime, Event& first) {
    const Event* second = runtime.streams().find_event(end);
    if (!second) return cudaErrorInvalidResourceHandle;
    if (!ms) return cudaErrorInvalidValue;
    return elapsed(first, *second, ms);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return host_call([&](Runtime&) {
    thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode) return cudaErrorInvalidValue;
    std::swap(current, *mode);
    return cudaSuccess;
  });
}

}  // extern "C"
