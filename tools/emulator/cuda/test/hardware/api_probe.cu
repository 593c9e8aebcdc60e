// Prints what the CUDA runtime answers to correct and incorrect calls, one "name value" line each. Run on a
// GPU it records the truth (api_probe_h200.txt); run on the emulator it must print the same lines.
#include <cuda.h>
#include <cuda_runtime.h>

#include <setjmp.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void nothing() {}
__global__ void writes(int* p) { *p = 1; }
__global__ void __launch_bounds__(128) bounded(int* p) { *p = 2; }
__global__ void with_static(int* p) {
  __shared__ int s[256];
  s[threadIdx.x] = p[0];
  __syncthreads();
  p[0] = s[0];
}
__global__ void __cluster_dims__(2, 1, 1) pair(int* p) { p[blockIdx.x] = 3; }
__global__ void four_params(int a, double b, char c, float* d) { d[0] = a + b + c; }
__device__ int variable[4];
__constant__ float constant_variable[8];
__managed__ int managed_variable = 7;
static int not_registered;

static void line(const char* name, long long value) {
  std::printf("%s %lld\n", name, value);
  std::fflush(stdout);
}
// Some wrong calls crash inside the real library; -1 says so and the probe goes on.
static sigjmp_buf before_call;
static void crashed(int) { siglongjmp(before_call, 1); }
#define CALL(name, ...)                                \
  do {                                                 \
    if (sigsetjmp(before_call, 1) == 0) {              \
      line(name, static_cast<long long>(__VA_ARGS__)); \
    } else {                                           \
      line(name, -1);                                  \
    }                                                  \
    cudaGetLastError();                                \
  } while (false)

template <class... Params, class... Args>
cudaError_t launch_with(void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared, dim3 cluster,
                        Args... args) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...);
}

static cudaError_t plain(const void* kernel, dim3 grid, dim3 block, size_t shared, void** args) {
  return cudaLaunchKernel(kernel, grid, block, args, shared, nullptr);
}

static void launches(int* p) {
  void* args[] = {&p};
  CALL("launch.ok", plain((void*)writes, 1, 32, 0, args));
  CALL("launch.grid_0", plain((void*)writes, 0, 32, 0, args));
  CALL("launch.block_0", plain((void*)writes, 1, 0, 0, args));
  CALL("launch.block_1025", plain((void*)writes, 1, 1025, 0, args));
  CALL("launch.block_z_65", plain((void*)writes, 1, dim3(1, 1, 65), 0, args));
  CALL("launch.block_product", plain((void*)writes, 1, dim3(512, 4, 1), 0, args));
  CALL("launch.grid_y_65536", plain((void*)writes, dim3(1, 65536, 1), 1, 0, args));
  CALL("launch.grid_z_65536", plain((void*)writes, dim3(1, 1, 65536), 1, 0, args));
  CALL("launch.grid_x_2e31", plain((void*)writes, dim3(1u << 31, 1, 1), 1, 0, args));
  CALL("launch.shared_49152", plain((void*)writes, 1, 32, 49152, args));
  CALL("launch.shared_49153", plain((void*)writes, 1, 32, 49153, args));
  CALL("launch.shared_300000", plain((void*)writes, 1, 32, 300000, args));
  CALL("launch.static_plus_48k", plain((void*)with_static, 1, 32, 49152, args));
  CALL("launch.static_fits_48k", plain((void*)with_static, 1, 32, 49152 - 1024, args));
  CALL("launch.bounds_129", plain((void*)bounded, 1, 129, 0, args));
  CALL("launch.null_function", plain(nullptr, 1, 32, 0, args));
  CALL("launch.unknown_function", plain((void*)&not_registered, 1, 32, 0, args));
  CALL("launch.null_args", plain((void*)writes, 1, 32, 0, nullptr));
  CALL("launch.nothing_null_args", plain((void*)nothing, 1, 32, 0, nullptr));
  CALL("cluster.2", launch_with(writes, 2, 32, 0, 2, p));
  CALL("cluster.2_grid_3", launch_with(writes, 3, 32, 0, 2, p));
  CALL("cluster.0", launch_with(writes, 2, 32, 0, dim3(0, 1, 1), p));
  CALL("cluster.8", launch_with(writes, 8, 32, 0, 8, p));
  CALL("cluster.16_portable", launch_with(writes, 16, 32, 0, 16, p));
  CALL("cluster.set_nonportable",
       cudaFuncSetAttribute((void*)writes, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CALL("cluster.16", launch_with(writes, 16, 32, 0, 16, p));
  CALL("cluster.32", launch_with(writes, 32, 32, 0, 32, p));
  CALL("cluster.required_plain", plain((void*)pair, 2, 32, 0, args));
  CALL("cluster.required_plain_grid_3", plain((void*)pair, 3, 32, 0, args));
  CALL("cluster.required_same", launch_with(pair, 4, 32, 0, 2, p));
  CALL("cluster.required_other", launch_with(pair, 4, 32, 0, 4, p));
  CALL("cluster.required_1", launch_with(pair, 4, 32, 0, 1, p));
  CALL("cooperative.ok", cudaLaunchCooperativeKernel((void*)writes, dim3(4), dim3(32), args, 0, nullptr));
  CALL("cooperative.too_large",
       cudaLaunchCooperativeKernel((void*)writes, dim3(100000), dim3(1024), args, 0, nullptr));
  cudaLaunchAttribute attribute{};
  attribute.id = static_cast<cudaLaunchAttributeID>(77);
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CALL("attribute.unknown", cudaLaunchKernelExC(&config, (void*)writes, args));
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  CALL("attribute.pdl", cudaLaunchKernelExC(&config, (void*)writes, args));
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = -3;
  CALL("attribute.priority", cudaLaunchKernelExC(&config, (void*)writes, args));
  config.attrs = nullptr;
  CALL("attribute.null_list", cudaLaunchKernelExC(&config, (void*)writes, args));
  CALL("launch.synchronize", cudaDeviceSynchronize());
}

static void functions() {
  const auto set = [](auto* kernel, int attribute, int value) {
    return cudaFuncSetAttribute((void*)kernel, static_cast<cudaFuncAttribute>(attribute), value);
  };
  CALL("function.shared_232448", set(writes, 8, 232448));
  CALL("function.shared_232449", set(writes, 8, 232449));
  CALL("function.shared_negative", set(writes, 8, -1));
  CALL("function.shared_static_fits", set(with_static, 8, 232448 - 1024));
  CALL("function.shared_static_over", set(with_static, 8, 232448 - 1023));
  CALL("function.carveout_50", set(writes, 9, 50));
  CALL("function.carveout_101", set(writes, 9, 101));
  CALL("function.carveout_default", set(writes, 9, -1));
  CALL("function.unknown_attribute", set(writes, 99, 1));
  CALL("function.readonly_attribute", set(writes, 2, 1));
  CALL("function.cluster_width_3", set(nothing, 11, 3));
  CALL("function.cluster_width_on_required", set(pair, 11, 2));
  CALL("function.nonportable_2", set(nothing, 14, 2));
  CALL("function.null", cudaFuncSetAttribute(nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  CALL("function.unknown",
       cudaFuncSetAttribute(&not_registered, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  cudaFuncAttributes a{};
  CALL("attributes.null", cudaFuncGetAttributes(nullptr, (void*)writes));
  CALL("attributes.unknown", cudaFuncGetAttributes(&a, &not_registered));
  CALL("attributes.bounded", cudaFuncGetAttributes(&a, (void*)bounded));
  line("attributes.bounded.max_threads", a.maxThreadsPerBlock);
  CALL("attributes.static", cudaFuncGetAttributes(&a, (void*)with_static));
  line("attributes.static.shared", a.sharedSizeBytes);
  line("attributes.static.max_dynamic", a.maxDynamicSharedSizeBytes);
  line("attributes.static.max_threads", a.maxThreadsPerBlock);
  line("attributes.static.ptx", a.ptxVersion);
  line("attributes.static.binary", a.binaryVersion);
  line("attributes.static.cache_ca", a.cacheModeCA);
  line("attributes.static.carveout", a.preferredShmemCarveout);
  line("attributes.static.cluster_set", a.clusterDimMustBeSet);
  line("attributes.static.cluster_width", a.requiredClusterWidth);
  line("attributes.static.nonportable", a.nonPortableClusterSizeAllowed);
  line("attributes.static.policy", a.clusterSchedulingPolicyPreference);
  CALL("attributes.pair", cudaFuncGetAttributes(&a, (void*)pair));
  line("attributes.pair.cluster_set", a.clusterDimMustBeSet);
  line("attributes.pair.cluster_width", a.requiredClusterWidth);
  line("attributes.pair.cluster_height", a.requiredClusterHeight);
  size_t offset = 77, size = 77;
  for (int i = 0; i < 5; ++i) {
    CALL("parameter", cudaFuncGetParamInfo((void*)four_params, i, &offset, &size));
    line("parameter.offset", static_cast<long long>(offset));
    line("parameter.size", static_cast<long long>(size));
  }
  const char* name = nullptr;
  CALL("function.name", cudaFuncGetName(&name, (void*)nothing));
  line("function.name.matches", name && std::strcmp(name, "_Z7nothingv") == 0);
  int blocks = -1;
  for (const int threads : {1, 32, 128, 256, 512, 1024, 1025, 0, -1}) {
    CALL("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, threads, 0));
    line("occupancy.blocks", blocks);
  }
  for (const int shared : {1, 1024, 16384, 49152, 49153, 101376, 232448, 300000}) {
    CALL("occupancy.shared", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, writes, 128, shared));
    line("occupancy.shared.blocks", blocks);
  }
  size_t available = 0;
  for (const int n : {1, 2, 4, 32, 33}) {
    CALL("occupancy.available", cudaOccupancyAvailableDynamicSMemPerBlock(&available, writes, n, 32));
    line("occupancy.available.bytes", static_cast<long long>(available));
  }
}

static void memory() {
  void *a = nullptr, *b = nullptr, *h = nullptr;
  char host[256];
  CALL("malloc.0", cudaMalloc(&a, 0));
  line("malloc.0.null", a == nullptr);
  CALL("malloc.null", cudaMalloc(static_cast<void**>(nullptr), 16));
  CALL("malloc.huge", cudaMalloc(&a, size_t{1} << 50));
  CALL("malloc.ok", cudaMalloc(&a, 1000));
  line("malloc.alignment_512", reinterpret_cast<size_t>(a) % 512 == 0);
  CALL("malloc.second", cudaMalloc(&b, 4096));
  CALL("free.null", cudaFree(nullptr));
  CALL("free.interior", cudaFree(static_cast<char*>(a) + 16));
  CALL("free.host", cudaFree(host));
  CALL("free.ok", cudaFree(a));
  CALL("free.twice", cudaFree(a));
  CALL("hostalloc.ok", cudaMallocHost(&h, 4096));
  CALL("free.pinned", cudaFree(h));
  CALL("freehost.ok", cudaFreeHost(h));
  CALL("freehost.twice", cudaFreeHost(h));
  CALL("freehost.null", cudaFreeHost(nullptr));
  CALL("freehost.device", cudaFreeHost(b));
  CALL("freehost.plain", cudaFreeHost(host));
  CALL("hostalloc.flags", cudaHostAlloc(&h, 64, 0x100));
  CALL("hostalloc.0", cudaHostAlloc(&h, 0, 0));
  CALL("managed.flags_0", cudaMallocManaged(&h, 64, 0));
  CALL("managed.0_bytes", cudaMallocManaged(&h, 0, cudaMemAttachGlobal));
  size_t pitch = 0;
  CALL("pitch", cudaMallocPitch(&a, &pitch, 100, 4));
  cudaFree(a);
  cudaMallocPitch(&a, &pitch, 1000, 4);
  line("pitch.1000", static_cast<long long>(pitch));
  cudaFree(a);

  CALL("memcpy.h2d", cudaMemcpy(b, host, 256, cudaMemcpyHostToDevice));
  CALL("memcpy.d2h", cudaMemcpy(host, b, 256, cudaMemcpyDeviceToHost));
  CALL("memcpy.default", cudaMemcpy(host, b, 256, cudaMemcpyDefault));
  CALL("memcpy.0_null", cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  CALL("memcpy.null_dst", cudaMemcpy(nullptr, host, 16, cudaMemcpyHostToDevice));
  CALL("memcpy.null_src", cudaMemcpy(b, nullptr, 16, cudaMemcpyDeviceToDevice));
  CALL("memcpy.kind_7", cudaMemcpy(b, host, 16, static_cast<cudaMemcpyKind>(7)));
  CALL("memcpy.h2d_host_dst", cudaMemcpy(host, host + 128, 16, cudaMemcpyHostToDevice));
  CALL("memcpy.d2h_host_src", cudaMemcpy(host, host + 128, 16, cudaMemcpyDeviceToHost));
  CALL("memcpy.d2d_host_src", cudaMemcpy(b, host, 16, cudaMemcpyDeviceToDevice));
  CALL("memcpy.h2h", cudaMemcpy(host, host + 128, 16, cudaMemcpyHostToHost));
  CALL("memcpy.h2d_swapped", cudaMemcpy(host, b, 16, cudaMemcpyHostToDevice));
  CALL("memcpy.d2h_swapped", cudaMemcpy(b, host, 16, cudaMemcpyDeviceToHost));
  std::vector<char> large(16 << 20);
  CALL("memcpy.past_end", cudaMemcpy(b, large.data(), 16 << 20, cudaMemcpyHostToDevice));
  CALL("memcpy2d.ok", cudaMemcpy2D(b, 64, host, 32, 32, 4, cudaMemcpyHostToDevice));
  CALL("memcpy2d.pitch", cudaMemcpy2D(b, 16, host, 32, 32, 4, cudaMemcpyHostToDevice));
  CALL("memcpy2d.0_width", cudaMemcpy2D(b, 16, host, 32, 0, 4, cudaMemcpyHostToDevice));
  CALL("memset.ok", cudaMemset(b, 1, 4096));
  CALL("memset.host", cudaMemset(host, 1, 16));
  CALL("memset.null", cudaMemset(nullptr, 1, 16));
  CALL("memset.null_0", cudaMemset(nullptr, 1, 0));
  CALL("memset.past_end", cudaMemset(b, 1, 16 << 20));
  CALL("memset2d.pitch", cudaMemset2D(b, 16, 1, 32, 4));

  cudaPointerAttributes p{};
  CALL("pointer.host", cudaPointerGetAttributes(&p, host));
  line("pointer.host.type", p.type);
  line("pointer.host.device", p.device);
  line("pointer.host.host_pointer", p.hostPointer != nullptr);
  CALL("pointer.null", cudaPointerGetAttributes(&p, nullptr));
  CALL("pointer.device", cudaPointerGetAttributes(&p, static_cast<char*>(b) + 100));
  line("pointer.device.type", p.type);
  line("pointer.device.device", p.device);
  line("pointer.device.same", p.devicePointer == static_cast<char*>(b) + 100);
  line("pointer.device.host_null", p.hostPointer == nullptr);
  cudaMallocHost(&h, 4096);
  CALL("pointer.pinned", cudaPointerGetAttributes(&p, h));
  line("pointer.pinned.type", p.type);
  line("pointer.pinned.same", p.devicePointer == h && p.hostPointer == h);
  cudaFreeHost(h);
  cudaMallocManaged(&h, 4096);
  CALL("pointer.managed", cudaPointerGetAttributes(&p, h));
  line("pointer.managed.type", p.type);
  line("pointer.managed.same", p.devicePointer == h && p.hostPointer == h);
  cudaFree(h);
  void* d = nullptr;
  void* plain_host = std::aligned_alloc(4096, 8192);
  CALL("register.device_pointer_before", cudaHostGetDevicePointer(&d, plain_host, 0));
  CALL("register.ok", cudaHostRegister(plain_host, 8192, 0));
  CALL("register.twice", cudaHostRegister(plain_host, 8192, 0));
  CALL("register.device_pointer", cudaHostGetDevicePointer(&d, plain_host, 0));
  CALL("register.freehost", cudaFreeHost(plain_host));
  CALL("register.undo", cudaHostUnregister(plain_host));
  CALL("register.undo_twice", cudaHostUnregister(plain_host));
  CALL("register.0", cudaHostRegister(plain_host, 0, 0));
  CALL("async.malloc", cudaMallocAsync(&a, 1000, nullptr));
  CALL("async.free", cudaFreeAsync(a, nullptr));
  CALL("async.free_null", cudaFreeAsync(nullptr, nullptr));
  CALL("async.free_twice", cudaFreeAsync(a, nullptr));
  CALL("async.malloc_0", cudaMallocAsync(&a, 0, nullptr));
  CALL("async.free_of_malloc", cudaFreeAsync(b, nullptr));
}

static void symbols() {
  void* address = nullptr;
  size_t size = 0;
  int values[8] = {};
  CALL("symbol.address", cudaGetSymbolAddress(&address, variable));
  CALL("symbol.size", cudaGetSymbolSize(&size, variable));
  line("symbol.size.bytes", static_cast<long long>(size));
  CALL("symbol.address_unknown", cudaGetSymbolAddress(&address, not_registered));
  CALL("symbol.address_null", cudaGetSymbolAddress(&address, static_cast<const void*>(nullptr)));
  CALL("symbol.to", cudaMemcpyToSymbol(variable, values, 16));
  CALL("symbol.to_over", cudaMemcpyToSymbol(variable, values, 17));
  CALL("symbol.to_offset_over", cudaMemcpyToSymbol(variable, values, 8, 12));
  CALL("symbol.to_kind", cudaMemcpyToSymbol(variable, values, 16, 0, cudaMemcpyDeviceToHost));
  CALL("symbol.from", cudaMemcpyFromSymbol(values, variable, 16));
  CALL("symbol.from_kind", cudaMemcpyFromSymbol(values, variable, 16, 0, cudaMemcpyHostToDevice));
  CALL("symbol.constant", cudaMemcpyToSymbol(constant_variable, values, 32));
  CALL("symbol.constant_address", cudaGetSymbolAddress(&address, constant_variable));
  line("symbol.managed", managed_variable);
  cudaPointerAttributes p{};
  CALL("symbol.managed_pointer", cudaPointerGetAttributes(&p, &managed_variable));
  line("symbol.managed_pointer.type", p.type);
}

static void streams_and_events() {
  cudaStream_t stream = nullptr;
  cudaEvent_t a = nullptr, b = nullptr, untimed = nullptr;
  float ms = -1;
  int low = 0, high = 0, priority = 9;
  unsigned flags = 9;
  CALL("stream.flags_5", cudaStreamCreateWithFlags(&stream, 5));
  CALL("stream.null", cudaStreamCreate(nullptr));
  CALL("stream.priority_range", cudaDeviceGetStreamPriorityRange(&low, &high));
  line("stream.priority_low", low);
  line("stream.priority_high", high);
  CALL("stream.priority_clamped", cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100));
  CALL("stream.priority", cudaStreamGetPriority(stream, &priority));
  line("stream.priority.value", priority);
  CALL("stream.flags", cudaStreamGetFlags(stream, &flags));
  line("stream.flags.value", flags);
  CALL("stream.query", cudaStreamQuery(stream));
  CALL("stream.destroy_default", cudaStreamDestroy(nullptr));
  CALL("event.create", cudaEventCreate(&a));
  CALL("event.create_b", cudaEventCreate(&b));
  CALL("event.flags_bad", cudaEventCreateWithFlags(&untimed, 0x80));
  CALL("event.interprocess_timed", cudaEventCreateWithFlags(&untimed, cudaEventInterprocess));
  CALL("event.untimed", cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CALL("event.query_unrecorded", cudaEventQuery(a));
  CALL("event.synchronize_unrecorded", cudaEventSynchronize(a));
  CALL("event.elapsed_unrecorded", cudaEventElapsedTime(&ms, a, b));
  CALL("event.record", cudaEventRecord(a, stream));
  CALL("event.elapsed_half", cudaEventElapsedTime(&ms, a, b));
  CALL("event.record_b", cudaEventRecord(b, stream));
  CALL("event.wait", cudaStreamWaitEvent(nullptr, b, 0));
  CALL("event.wait_flags", cudaStreamWaitEvent(nullptr, b, 2));
  CALL("event.wait_null", cudaStreamWaitEvent(nullptr, nullptr, 0));
  CALL("event.synchronize", cudaEventSynchronize(b));
  CALL("event.elapsed", cudaEventElapsedTime(&ms, a, b));
  line("event.elapsed.not_negative", ms >= 0);
  CALL("event.elapsed_null_out", cudaEventElapsedTime(nullptr, a, b));
  CALL("event.record_untimed", cudaEventRecord(untimed, stream));
  cudaEventSynchronize(untimed);
  CALL("event.elapsed_untimed", cudaEventElapsedTime(&ms, a, untimed));
  CALL("event.record_null", cudaEventRecord(nullptr, stream));
  CALL("event.query_null", cudaEventQuery(nullptr));
  CALL("event.destroy_null", cudaEventDestroy(nullptr));
  CALL("event.destroy", cudaEventDestroy(a));
  CALL("stream.destroy", cudaStreamDestroy(stream));
  CALL("hostfunc", cudaLaunchHostFunc(
                       nullptr, [](void* p) { *static_cast<int*>(p) += 1; }, &low));
  cudaDeviceSynchronize();
  line("hostfunc.ran", low);
  CALL("hostfunc.null", cudaLaunchHostFunc(nullptr, nullptr, nullptr));
}

static void device() {
  int value = -1;
  int count = 0;
  cudaDeviceProp properties{};
  CALL("device.count", cudaGetDeviceCount(&count));
  CALL("device.count_null", cudaGetDeviceCount(nullptr));
  CALL("device.set_bad", cudaSetDevice(count));
  CALL("device.set_negative", cudaSetDevice(-1));
  CALL("device.get_null", cudaGetDevice(nullptr));
  CALL("device.properties_bad", cudaGetDeviceProperties(&properties, count));
  CALL("device.properties_null", cudaGetDeviceProperties(nullptr, 0));
  CALL("device.attribute_bad", cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  CALL("device.attribute_null", cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  CALL("device.attribute_device", cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count));
  size_t limit = 0;
  for (int i = 0; i < 8; ++i) {
    limit = 0;
    CALL("limit.get", cudaDeviceGetLimit(&limit, static_cast<cudaLimit>(i)));
    line("limit.value", static_cast<long long>(limit));
  }
  CALL("limit.set_stack", cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CALL("limit.set_bad", cudaDeviceSetLimit(static_cast<cudaLimit>(99), 4096));
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  CALL("entry.ok", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                    cudaEnableDefault, &status));
  line("entry.ok.status", status);
  CALL("entry.too_old", cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 11000,
                                                         cudaEnableDefault, &status));
  line("entry.too_old.status", status);
  line("entry.too_old.null", function == nullptr);
  CALL("entry.unknown",
       cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, cudaEnableDefault, &status));
  line("entry.unknown.status", status);
  line("entry.unknown.null", function == nullptr);
  CALL("entry.unknown_no_status",
       cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, cudaEnableDefault, nullptr));
  CALL("entry.flags", cudaGetDriverEntryPointByVersion("cuInit", &function, 12000, 99, &status));
  CALL("peer.self", cudaDeviceEnablePeerAccess(0, 0));
  CALL("peer.can", cudaDeviceCanAccessPeer(&value, 0, 0));
  line("peer.can.value", value);
}

static void after_a_fault() {
  int* bad = reinterpret_cast<int*>(16);
  void* args[] = {&bad};
  void* p = nullptr;
  int host = 0;
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  line("fault.launch", plain((void*)writes, 1, 1, 0, args));
  line("fault.synchronize", cudaDeviceSynchronize());
  line("fault.last_error", cudaGetLastError());
  line("fault.last_error_again", cudaGetLastError());
  line("fault.peek", cudaPeekAtLastError());
  line("fault.malloc", cudaMalloc(&p, 16));
  line("fault.memcpy", cudaMemcpy(&host, &host, 4, cudaMemcpyDefault));
  line("fault.memset", cudaMemset(bad, 0, 4));
  line("fault.free_null", cudaFree(nullptr));
  line("fault.event_query", cudaEventQuery(event));
  line("fault.launch_again", plain((void*)writes, 1, 1, 0, args));
  line("fault.stream_query", cudaStreamQuery(nullptr));
  int count = 0;
  line("fault.device_count", cudaGetDeviceCount(&count));
  line("fault.get_device", cudaGetDevice(&count));
  line("fault.set_device", cudaSetDevice(0));
  line("fault.attribute", cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, 0));
  line("fault.event_destroy", cudaEventDestroy(event));
}

static void machine() {
  for (int i = 1; i < 152; ++i) {
    int value = -12345;
    const cudaError_t error = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(i), 0);
    std::printf("machine.attribute_%d %d %d\n", i, error, value);
  }
  cudaDeviceProp p{};
  cudaGetDeviceProperties(&p, 0);
  std::printf("machine.name %s\nmachine.memory %zu\n", p.name, p.totalGlobalMem);
  const int* words = reinterpret_cast<const int*>(&p);
  for (size_t i = 64; i < sizeof p / 4; ++i) std::printf("machine.word_%zu %d\n", i, words[i]);
}

int main(int argc, char** argv) {
  int* p = nullptr;
  signal(SIGSEGV, crashed);
  CALL("first.malloc", cudaMalloc(&p, 1 << 20));
  device();
  if (argc > 1 && std::strcmp(argv[1], "--machine") == 0) {
    machine();
    return 0;
  }
  launches(p);
  functions();
  memory();
  symbols();
  streams_and_events();
  after_a_fault();
}
