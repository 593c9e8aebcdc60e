#include <cstring>

#include "cuda/emu_query.h"
#include "program.h"
#include "testing/catch.h"

using namespace emu::cuda;
using emu::cuda::test::launch;
using emu::cuda::test::Program;

namespace {

struct Arguments {
  uint64_t pointer = 0x1122334455667788;
  uint32_t count = 7;
  char block[48] = {};
  void* list[3] = {&pointer, &count, block};
};

cudaError_t launch_cluster(const void* stub, dim3 grid, dim3 cluster) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelExC(&config, stub, nullptr);
}

struct Fault {
  explicit Fault(Status status) {
    fake_engine().behaviour = [status](const LaunchRequest&) {
      LaunchResult result;
      result.status = status;
      result.report = "fault made by the test";
      return result;
    };
  }
  ~Fault() {
    fake_engine().behaviour = nullptr;
    cudaDeviceReset();
    cudaGetLastError();
  }
};

}  // namespace

TEST_CASE("a launch reaches the engine with its parameters packed as the .param list says") {
  Program program;
  Arguments arguments;
  std::memset(arguments.block, 0x5a, sizeof arguments.block);
  REQUIRE(launch(&program.plain, dim3(3, 2, 1), dim3(64, 1, 1), 100, nullptr, arguments.list) == cudaSuccess);
  const LaunchRequest& request = fake_engine().launches.back();
  CHECK(request.entry == "plain");
  CHECK(request.grid == Dim3{3, 2, 1});
  CHECK(request.block == Dim3{64, 1, 1});
  CHECK(request.dynamic_shared == 100);
  CHECK(request.cluster == Dim3{1, 1, 1});
  REQUIRE(request.params.size() == 64);  // 8 + 4, then the block at the next multiple of 16
  CHECK(std::memcmp(request.params.data(), &arguments.pointer, 8) == 0);
  CHECK(std::memcmp(request.params.data() + 8, &arguments.count, 4) == 0);
  CHECK(std::memcmp(request.params.data() + 16, arguments.block, 48) == 0);
}

TEST_CASE("a module is opened at its first use and not before") {
  const size_t before = fake_engine().modules_loaded;
  Program program;
  CHECK(fake_engine().modules_loaded == before);
  cudaFuncAttributes attributes{};
  CHECK(cudaFuncGetAttributes(&attributes, &program.plain) == cudaSuccess);
  CHECK(cudaFuncGetAttributes(&attributes, &program.bounded) == cudaSuccess);
  CHECK(fake_engine().modules_loaded == before + 1);
}

// The codes of the next cases were recorded on an H200 (test/hardware/api_probe_h200.txt).
TEST_CASE("launches beyond a limit are refused with the code that hardware gives") {
  Program program;
  Arguments arguments;
  const auto plain = [&](dim3 grid, dim3 block, size_t shared) {
    return launch(&program.plain, grid, block, shared, nullptr, arguments.list);
  };
  const size_t before = fake_engine().launches.size();
  CHECK(plain(0, 32, 0) == cudaErrorInvalidValue);
  CHECK(plain(1, 0, 0) == cudaErrorInvalidValue);
  CHECK(plain(1, 1025, 0) == cudaErrorInvalidValue);
  CHECK(plain(1, dim3(1, 1, 65), 0) == cudaErrorInvalidValue);
  CHECK(plain(1, dim3(512, 4, 1), 0) == cudaErrorInvalidValue);
  CHECK(plain(dim3(1, 65536, 1), 1, 0) == cudaErrorInvalidValue);
  CHECK(plain(dim3(1u << 31, 1, 1), 1, 0) == cudaErrorInvalidValue);
  CHECK(plain(1, 32, 49153) == cudaErrorInvalidValue);
  CHECK(launch(&program.with_static, 1, 32, 49152, nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(launch(&program.bounded, 1, 129, 0, nullptr, arguments.list) == cudaErrorInvalidValue);
  CHECK(launch(&program.plain, 1, 32, 0, nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaLaunchKernel(nullptr, 1, 32, nullptr, 0, nullptr) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaLaunchKernel(&arguments, 1, 32, nullptr, 0, nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(fake_engine().launches.size() == before);
  CHECK(plain(1, 32, 49152) == cudaSuccess);
  CHECK(launch(&program.with_static, 1, 32, 49152 - 1024, nullptr, nullptr) == cudaSuccess);
  CHECK(fake_engine().launches.size() == before + 2);
}

TEST_CASE("dynamic shared memory goes up to 227 KB less the static part, once asked for") {
  Program program;
  const auto set = [](const void* stub, int value) {
    return cudaFuncSetAttribute(stub, cudaFuncAttributeMaxDynamicSharedMemorySize, value);
  };
  CHECK(set(&program.with_static, 232448 - 1023) == cudaErrorInvalidValue);
  CHECK(set(&program.with_static, 232448 - 1024) == cudaSuccess);
  CHECK(launch(&program.with_static, 1, 32, 232448 - 1024, nullptr, nullptr) == cudaSuccess);
  CHECK(launch(&program.with_static, 1, 32, 232448 - 1023, nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(set(&program.plain, 232449) == cudaErrorInvalidValue);
  CHECK(set(&program.plain, -1) == cudaErrorInvalidValue);
  CHECK(set(nullptr, 1) == cudaErrorInvalidDeviceFunction);
  CHECK(set(&set, 1) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_CASE("clusters are checked against size, portability, grid and the kernel's own shape") {
  Program program;
  CHECK(launch_cluster(&program.with_static, 4, 2) == cudaSuccess);
  CHECK(fake_engine().launches.back().cluster == Dim3{2, 1, 1});
  CHECK(launch_cluster(&program.with_static, 3, 2) == cudaErrorInvalidClusterSize);
  CHECK(launch_cluster(&program.with_static, 2, dim3(0, 1, 1)) == cudaErrorInvalidClusterSize);
  CHECK(launch_cluster(&program.with_static, 16, 16) == cudaErrorInvalidClusterSize);
  CHECK(cudaFuncSetAttribute(&program.with_static, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) ==
        cudaSuccess);
  CHECK(launch_cluster(&program.with_static, 16, dim3(4, 1, 1)) == cudaSuccess);
  CHECK(launch_cluster(&program.with_static, dim3(4, 4, 1), dim3(4, 4, 1)) == cudaSuccess);
  CHECK(launch_cluster(&program.with_static, 32, 32) == cudaErrorInvalidClusterSize);
  CHECK(launch(&program.pair, 2, 32, 0, nullptr, nullptr) == cudaSuccess);
  CHECK(fake_engine().launches.back().cluster == Dim3{2, 1, 1});
  CHECK(launch(&program.pair, 3, 32, 0, nullptr, nullptr) == cudaErrorInvalidClusterSize);
  CHECK(launch_cluster(&program.pair, 4, 4) == cudaErrorInvalidClusterSize);
  CHECK(launch_cluster(&program.pair, 4, 1) == cudaErrorInvalidClusterSize);
}

TEST_CASE("a cooperative grid must be resident as a whole") {
  Program program;
  CHECK(cudaLaunchCooperativeKernel(&program.with_static, dim3(148), dim3(1024), nullptr, 0, nullptr) ==
        cudaSuccess);
  CHECK(fake_engine().launches.back().cooperative);
  CHECK(cudaLaunchCooperativeKernel(&program.with_static, dim3(100000), dim3(1024), nullptr, 0, nullptr) ==
        cudaErrorCooperativeLaunchTooLarge);
}

TEST_CASE("launch attributes: unknown ones are refused, PDL is passed on") {
  Program program;
  cudaLaunchAttribute attribute{};
  attribute.id = static_cast<cudaLaunchAttributeID>(77);
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelExC(&config, &program.with_static, nullptr) == cudaErrorInvalidValue);
  config.attrs = &attribute;
  CHECK(cudaLaunchKernelExC(&config, &program.with_static, nullptr) == cudaErrorInvalidValue);
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  CHECK(cudaLaunchKernelExC(&config, &program.with_static, nullptr) == cudaSuccess);
  CHECK(fake_engine().launches.back().programmatic_serialization);
}

TEST_CASE("a fault is asynchronous and then stays") {
  Program program;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  const Fault fault(Status::kIllegalAddress);
  cudaGetLastError();
  CHECK(launch(&program.with_static, 1, 1, 0, nullptr, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaSuccess);
  void* pointer = nullptr;
  int value = 0;
  CHECK(cudaMalloc(&pointer, 16) == cudaErrorIllegalAddress);
  CHECK(cudaMemcpy(&value, &value, 4, cudaMemcpyDefault) == cudaErrorIllegalAddress);
  CHECK(cudaFree(nullptr) == cudaErrorIllegalAddress);
  CHECK(cudaEventQuery(event) == cudaErrorIllegalAddress);
  CHECK(cudaStreamQuery(nullptr) == cudaErrorIllegalAddress);
  CHECK(launch(&program.with_static, 1, 1, 0, nullptr, nullptr) == cudaErrorIllegalAddress);
  CHECK(cudaGetDeviceCount(&value) == cudaSuccess);
  CHECK(cudaGetDevice(&value) == cudaSuccess);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0) == cudaSuccess);
}

TEST_CASE("a limit that the engine finds is the launch's own error and does not stay") {
  Program program;
  const Fault fault(Status::kLaunchOutOfResources);
  CHECK(launch(&program.with_static, 1, 1, 0, nullptr, nullptr) == cudaErrorLaunchOutOfResources);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("what cannot run at all fails its launch and everything after it") {
  Program program;
  const Fault fault(Status::kNotSupported);
  CHECK(launch(&program.with_static, 1, 1, 0, nullptr, nullptr) == cudaErrorNotSupported);
  CHECK(cudaDeviceSynchronize() == cudaErrorNotSupported);
}

TEST_CASE("a module that does not parse fails its first use, with the same code every time") {
  Program program("no PTX at all");
  const Fault reset_at_the_end(Status::kSuccess);
  cudaFuncAttributes attributes{};
  CHECK(cudaFuncGetAttributes(&attributes, &program.plain) == cudaErrorInvalidPtx);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(launch(&program.plain, 1, 1, 0, nullptr, nullptr) == cudaErrorInvalidPtx);
  CHECK(cudaDeviceSynchronize() == cudaErrorInvalidPtx);
}

TEST_CASE("function attributes come from the PTX") {
  Program program;
  cudaFuncAttributes a{};
  REQUIRE(cudaFuncGetAttributes(&a, &program.with_static) == cudaSuccess);
  CHECK(a.sharedSizeBytes == 1024);
  CHECK(a.maxThreadsPerBlock == 1024);
  CHECK(a.maxDynamicSharedSizeBytes == 49152 - 1024);
  CHECK(a.ptxVersion == 100);
  CHECK(a.binaryVersion == 100);
  REQUIRE(cudaFuncGetAttributes(&a, &program.bounded) == cudaSuccess);
  CHECK(a.maxThreadsPerBlock == 128);
  REQUIRE(cudaFuncGetAttributes(&a, &program.pair) == cudaSuccess);
  CHECK(a.clusterDimMustBeSet == 1);
  CHECK(a.requiredClusterWidth == 2);
  size_t offset = 0, size = 0;
  CHECK(cudaFuncGetParamInfo(&program.plain, 2, &offset, &size) == cudaSuccess);
  CHECK(offset == 16);
  CHECK(size == 48);
  CHECK(cudaFuncGetParamInfo(&program.plain, 3, &offset, &size) == cudaErrorInvalidValue);
}

TEST_CASE("occupancy answers as an H200 with the same shared memory does") {
  Program program;
  const auto blocks = [&](int threads, size_t shared) {
    int value = -1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, &program.plain, threads, shared);
    return value;
  };
  CHECK(blocks(1, 0) == 32);
  CHECK(blocks(128, 0) == 16);
  CHECK(blocks(1024, 0) == 2);
  CHECK(blocks(1025, 0) == 0);
  CHECK(blocks(128, 1) == 16);
  CHECK(blocks(128, 16384) == 13);
  CHECK(blocks(128, 49153) == 4);
  CHECK(blocks(128, 101376) == 2);
  CHECK(blocks(128, 232448) == 1);
  CHECK(blocks(128, 300000) == 0);
  size_t bytes = 0;
  for (const auto& [count, expected] : {std::pair{1, 232448}, {2, 116736}, {4, 58368}, {32, 7296}}) {
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &program.plain, count, 32) == cudaSuccess);
    CHECK(bytes == static_cast<size_t>(expected));
  }
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &program.plain, 33, 32) == cudaErrorInvalidValue);
}

TEST_CASE("the program can ask whether the last launch's time was modelled") {
  Program program;
  fake_engine().behaviour = [](const LaunchRequest&) {
    LaunchResult result;
    result.modelled_ns = 5;
    result.ctas_run = 2;
    result.sampled = true;
    return result;
  };
  CHECK(launch(&program.with_static, 9, 1, 0, nullptr, nullptr) == cudaSuccess);
  fake_engine().behaviour = nullptr;
  EmuLaunchInfo info{};
  CHECK(emuGetLastLaunch(&info) == 0);
  CHECK(info.time_modelled == 0);
  CHECK(info.sampled == 1);
  CHECK(info.ctas_run == 2);
  CHECK(info.ctas_total == 9);
}
