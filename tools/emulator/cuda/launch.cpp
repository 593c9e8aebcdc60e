#include "cuda/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/api.h"
#include "cuda/error_table.h"
#include "cuda/occupancy.h"

namespace emu::cuda {
namespace {

constexpr uint32_t kPortableCluster = 8;
constexpr uint32_t kLargestCluster = 16;

// Codes as an H200 under CUDA 13.0 returns them: every violated limit of grid, block or shared memory is
// cudaErrorInvalidValue, whatever older documentation says of cudaErrorInvalidConfiguration.
cudaError_t check_extents(const Machine& machine, const KernelInfo& info, const LaunchShape& shape) {
  const auto limit = [&](int attribute) { return static_cast<uint32_t>(machine.attribute(attribute)); };
  const Dim3 g = shape.grid, b = shape.block;
  if (g.count() == 0 || b.count() == 0) return cudaErrorInvalidValue;
  if (g.x > limit(cudaDevAttrMaxGridDimX) || g.y > limit(cudaDevAttrMaxGridDimY) ||
      g.z > limit(cudaDevAttrMaxGridDimZ)) {
    return cudaErrorInvalidValue;
  }
  if (b.x > limit(cudaDevAttrMaxBlockDimX) || b.y > limit(cudaDevAttrMaxBlockDimY) ||
      b.z > limit(cudaDevAttrMaxBlockDimZ)) {
    return cudaErrorInvalidValue;
  }
  if (b.count() > max_threads_per_block(info)) return cudaErrorInvalidValue;
  if (info.req_threads && !(*info.req_threads == b)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

// The cluster shape a launch gets, 0 in x if the launch and the kernel contradict each other.
Dim3 cluster_of(const Kernel& kernel, const KernelInfo& info, const LaunchShape& shape) {
  std::optional<Dim3> required = info.req_cluster;
  if (!required && kernel.cluster_attribute.x) {
    const Dim3 c = kernel.cluster_attribute;
    required = Dim3{c.x, std::max(c.y, 1u), std::max(c.z, 1u)};
  }
  if (required && shape.cluster && !(*required == *shape.cluster)) return {0, 0, 0};
  if (required) return *required;
  if (shape.cluster) return *shape.cluster;
  return info.explicit_cluster ? Dim3{0, 0, 0} : Dim3{1, 1, 1};
}

cudaError_t check_cluster(const Kernel& kernel, const KernelInfo& info, const LaunchShape& shape,
                          Dim3 cluster) {
  const uint64_t size = cluster.count();
  if (size == 0 || size > kLargestCluster) return cudaErrorInvalidClusterSize;
  if (size > kPortableCluster && !kernel.non_portable_cluster) return cudaErrorInvalidClusterSize;
  if (info.max_cluster_rank && size > *info.max_cluster_rank) return cudaErrorInvalidClusterSize;
  if (shape.grid.x % cluster.x || shape.grid.y % cluster.y || shape.grid.z % cluster.z)
    return cudaErrorInvalidClusterSize;
  return cudaSuccess;
}

cudaError_t check_resources(const Runtime& runtime, const Kernel& kernel, const KernelInfo& info,
                            const LaunchShape& shape) {
  const Machine& machine = runtime.machine();
  if (shape.dynamic_shared > max_dynamic_shared(machine, kernel, info)) return cudaErrorInvalidValue;
  const uint32_t threads = static_cast<uint32_t>(shape.block.count());
  if (registers_of_block(info, threads) >
      static_cast<uint32_t>(machine.attribute(cudaDevAttrMaxRegistersPerBlock))) {
    return cudaErrorLaunchOutOfResources;
  }
  if (shape.cooperative) {
    const uint64_t resident =
        uint64_t{blocks_per_sm(machine, info, threads, shape.dynamic_shared)} * machine.sm_count();
    if (shape.grid.count() > resident) return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaSuccess;
}

// Errors that stop a launch before it begins are returned by it; whatever happens while it runs is a fault.
bool is_refusal(Status status) {
  switch (status) {
    case Status::kInvalidValue:
    case Status::kMemoryAllocation:
    case Status::kInvalidConfiguration:
    case Status::kSymbolNotFound:
    case Status::kLaunchOutOfResources:
    case Status::kCooperativeLaunchTooLarge:
      return true;
    default:
      return false;
  }
}

// What the emulator cannot run is returned by the launch and then stays: a program that only looks at a later
// synchronisation must not take the untouched output for a result.
bool cannot_run(Status status) {
  switch (status) {
    case Status::kInvalidKernelImage:
    case Status::kNoKernelImage:
    case Status::kInvalidPtx:
    case Status::kUnsupportedPtxVersion:
    case Status::kNotSupported:
      return true;
    default:
      return false;
  }
}

const KernelInfo& info_for_launch(Runtime& runtime, Kernel& kernel) {
  try {
    return runtime.info(kernel);
  } catch (const EngineError& error) {
    if (cannot_run(error.status)) runtime.set_fault(static_cast<cudaError_t>(error.status));
    throw;
  }
}

void note_result(Runtime& runtime, const LaunchShape& shape, const LaunchResult& result) {
  EmuLaunchInfo& info = runtime.last_launch;
  info.launches += 1;
  info.modelled_ns = result.modelled_ns;
  info.time_modelled = result.time_modelled;
  info.sampled = result.sampled;
  info.ctas_run = result.ctas_run;
  info.ctas_total = shape.grid.count();
  info.warp_instructions = result.warp_instructions;
}

cudaError_t run(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, Dim3 cluster, Stream& stream,
                std::vector<std::byte> params) {
  LaunchRequest request;
  request.module = kernel.module->handle;
  request.entry = kernel.name;
  request.grid = shape.grid;
  request.block = shape.block;
  request.cluster = cluster;
  request.cluster_from_launch = shape.cluster.has_value();
  request.dynamic_shared = static_cast<uint32_t>(shape.dynamic_shared);
  request.params = std::move(params);
  request.cooperative = shape.cooperative;
  request.programmatic_serialization = shape.programmatic_serialization;
  request.start_ns = std::max(runtime.streams().ready_ns(stream), runtime.compute_busy_until_ns);
  request.may_sample = runtime.may_sample;

  const LaunchResult result = runtime.engine().launch(request);
  if (!result.report.empty()) report(result.report);
  const cudaError_t error = static_cast<cudaError_t>(result.status);
  if (is_refusal(result.status)) return error;
  if (cannot_run(result.status)) return runtime.set_fault(error), error;

  const double end = request.start_ns + result.modelled_ns;
  runtime.compute_busy_until_ns = end;
  runtime.streams().finish(stream, end);
  if (shape.completion_event) {
    shape.completion_event->recorded = true;
    shape.completion_event->time_ns = end;
  }
  note_result(runtime, shape, result);
  if (error != cudaSuccess) runtime.set_fault(error);
  return cudaSuccess;
}

cudaError_t check_and_run(Runtime& runtime, Kernel& kernel, const KernelInfo& info, const LaunchShape& shape,
                          Stream& stream, std::vector<std::byte> params) {
  if (const cudaError_t error = check_extents(runtime.machine(), info, shape)) return error;
  const Dim3 cluster = cluster_of(kernel, info, shape);
  if (const cudaError_t error = check_cluster(kernel, info, shape, cluster)) return error;
  if (const cudaError_t error = check_resources(runtime, kernel, info, shape)) return error;
  return run(runtime, kernel, shape, cluster, stream, std::move(params));
}

cudaError_t record_event_attribute(Runtime& runtime, cudaEvent_t handle, LaunchShape& shape) {
  shape.completion_event = runtime.streams().find_event(handle);
  return shape.completion_event ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t read_attribute(Runtime& runtime, const cudaLaunchAttribute& attribute, LaunchShape& shape) {
  const cudaLaunchAttributeValue& value = attribute.val;
  switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return cudaSuccess;  // hints and preferences: nothing a kernel computes depends on them
    case cudaLaunchAttributeCooperative:
      shape.cooperative = value.cooperative != 0;
      return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
      shape.cluster = Dim3{value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      shape.programmatic_serialization = value.programmaticStreamSerializationAllowed != 0;
      return cudaSuccess;
    case cudaLaunchAttributeProgrammaticEvent:
      return record_event_attribute(runtime, value.programmaticEvent.event, shape);
    case cudaLaunchAttributeLaunchCompletionEvent:
      return record_event_attribute(runtime, value.launchCompletionEvent.event, shape);
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      return not_supported("launch attribute DeviceUpdatableKernelNode", "graphs are not emulated");
    default:
      return attribute.id == 16 ? cudaSuccess /* NVLink-centric scheduling */ : cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t read_attributes(Runtime& runtime, std::span<const cudaLaunchAttribute> attributes,
                            LaunchShape& shape) {
  for (const cudaLaunchAttribute& attribute : attributes) {
    if (const cudaError_t error = read_attribute(runtime, attribute, shape)) return error;
  }
  return cudaSuccess;
}

cudaError_t launch(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, Stream& stream, void** args) {
  const KernelInfo& info = info_for_launch(runtime, kernel);
  if (!args && !info.params.empty()) return cudaErrorInvalidValue;
  std::vector<std::byte> params(info.param_bytes);
  for (size_t i = 0; i < info.params.size(); ++i) {
    if (!args[i]) return cudaErrorInvalidValue;
    std::memcpy(params.data() + info.params[i].offset, args[i], info.params[i].size);
  }
  return check_and_run(runtime, kernel, info, shape, stream, std::move(params));
}

cudaError_t launch_packed(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, Stream& stream,
                          std::span<const std::byte> packed) {
  const KernelInfo& info = info_for_launch(runtime, kernel);
  if (packed.size() < info.param_bytes) {
    report(fmt::format("kernel {} takes {} bytes of parameters, the buffer has {}", kernel.name,
                       info.param_bytes, packed.size()));
    return cudaErrorInvalidValue;
  }
  std::vector<std::byte> params(packed.begin(), packed.begin() + info.param_bytes);
  return check_and_run(runtime, kernel, info, shape, stream, std::move(params));
}

}  // namespace emu::cuda
