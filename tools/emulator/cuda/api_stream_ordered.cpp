// Calls on streams. Compiled twice: see kPerThreadDefault.
#include "cuda/api.h"

using namespace emu::cuda;

namespace {

template <class Body>
cudaError_t on_stream(cudaStream_t handle, Body&& body) {
  return stream_call(handle, kPerThreadDefault, std::forward<Body>(body));
}

bool is_stream_attribute(cudaStreamAttrID id) {
  return id == cudaStreamAttributeAccessPolicyWindow || id == cudaStreamAttributeSynchronizationPolicy ||
         id == cudaStreamAttributePriority || id == cudaStreamAttributeMemSyncDomainMap ||
         id == cudaStreamAttributeMemSyncDomain;
}

constexpr const char* kNoCapture = "stream capture is not emulated; launch without a graph";

cudaError_t record_event(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
  return on_stream(stream_handle, [&](Runtime& runtime, Stream& stream) {
    Event* event = runtime.streams().find_event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (flags & ~cudaEventRecordExternal) return cudaErrorInvalidValue;
    event->recorded = true;
    event->time_ns = runtime.streams().ready_ns(stream);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return on_stream(handle, [](Runtime& runtime, Stream& stream) {
    if (runtime.engine_started()) runtime.engine().flush_output();
    runtime.streams().host_waited(runtime.streams().ready_ns(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return on_stream(handle, [](Runtime&, Stream&) { return cudaSuccess; });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return on_stream(handle, [&](Runtime&, Stream& stream) {
    if (!priority) return cudaErrorInvalidValue;
    *priority = stream.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return on_stream(handle, [&](Runtime&, Stream& stream) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = stream.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value) {
  return on_stream(handle, [&](Runtime&, Stream& stream) {
    if (!value || !is_stream_attribute(id)) return cudaErrorInvalidValue;
    const float ratio = id == cudaStreamAttributeAccessPolicyWindow ? value->accessPolicyWindow.hitRatio : 0;
    if (!(ratio >= 0 && ratio <= 1)) return cudaErrorInvalidValue;
    if (id == cudaStreamAttributePriority) stream.priority = value->priority;
    stream.attributes[id] = *value;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID id, cudaStreamAttrValue* value) {
  return on_stream(handle, [&](Runtime&, Stream& stream) {
    if (!value || !is_stream_attribute(id)) return cudaErrorInvalidValue;
    *value = {};
    if (id == cudaStreamAttributeSynchronizationPolicy) value->syncPolicy = cudaSyncPolicyAuto;
    if (const auto set = stream.attributes.find(id); set != stream.attributes.end()) *value = set->second;
    if (id == cudaStreamAttributePriority) value->priority = stream.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return on_stream(from, [&](Runtime&, Stream& source) {
    return on_stream(to, [&](Runtime&, Stream& target) {
      target.attributes = source.attributes;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return on_stream(handle, [&](Runtime&, Stream& stream) {
    if (!id) return cudaErrorInvalidValue;
    *id = stream.id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return on_stream(handle, [&](Runtime&, Stream&) {
    if (!device) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags) {
  return on_stream(handle, [&](Runtime& runtime, Stream& stream) {
    const Event* event = runtime.streams().find_event(event_handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (flags & ~cudaEventWaitExternal) return cudaErrorInvalidValue;
    // An event that was never recorded holds nothing back.
    if (event->recorded && event->time_ns > stream.clock_ns) runtime.streams().finish(stream, event->time_ns);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return record_event(event, stream, 0); }

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return record_event(event, stream, flags);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  const cudaError_t error =
      on_stream(handle, [&](Runtime&, Stream&) { return function ? cudaSuccess : cudaErrorInvalidValue; });
  if (error == cudaSuccess) function(data);  // not under the lock: it may wait for another host thread
  return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  const cudaError_t error = on_stream(handle, [&](Runtime&, Stream&) {
    return callback && flags == 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
  if (error == cudaSuccess) callback(handle, cudaSuccess, data);
  return error;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return on_stream(handle, [&](Runtime&, Stream&) {
    if (!status) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t*, const cudaGraphNode_t**,
                                     const cudaGraphEdgeData**, size_t*) {
  return on_stream(handle, [&](Runtime&, Stream&) {
    if (!status) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    if (id) *id = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
  return on_stream(handle,
                   [](Runtime&, Stream&) { return not_supported("cudaStreamBeginCapture", kNoCapture); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return on_stream(handle, [&](Runtime&, Stream&) {
    if (graph) *graph = nullptr;
    return cudaErrorIllegalState;  // what CUDA says of a stream that is not capturing
  });
}

}  // extern "C"
