#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "cuda/device_properties.h"
#include "cuda/machine.h"
#include "cuda/options.h"
#include "testing/catch.h"

using namespace emu::cuda;

TEST_CASE("the default machine is a B200") {
  cudaDeviceProp p{};
  REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  CHECK(std::string(p.name) == "NVIDIA B200 (emulated)");
  CHECK(p.major == 10);
  CHECK(p.minor == 0);
  CHECK(p.multiProcessorCount == 148);
  CHECK(p.sharedMemPerBlockOptin == 232448);
  CHECK(p.sharedMemPerMultiprocessor == 233472);
  CHECK(sizeof p == 1008);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0) == cudaSuccess);
  CHECK(value == 1965000);
}

TEST_CASE("the H200 answers every attribute as the real one did") {
  const Machine& h200 = machine_named("h200");
  std::ifstream recorded(std::string(CUDA_TEST_DIR) + "/hardware/device_attributes_h200.txt");
  REQUIRE(recorded);
  std::string text;
  int compared = 0;
  while (std::getline(recorded, text)) {
    int attribute = 0, error = 0, value = 0;
    if (std::sscanf(text.c_str(), "%d %d %d", &attribute, &error, &value) != 3 || error != 0) continue;
    CHECK(h200.attribute(attribute) == value);
    ++compared;
  }
  CHECK(compared > 140);
  CHECK(device_properties(h200).major == 9);
  CHECK(device_properties(h200).multiProcessorCount == 132);
}

TEST_CASE("device numbers and null pointers are checked") {
  int value = 0;
  cudaDeviceProp p{};
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  CHECK(cudaGetDeviceCount(nullptr) == cudaErrorInvalidValue);
  CHECK(cudaGetDeviceProperties(&p, 1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0) == cudaErrorInvalidValue);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
  CHECK(cudaDriverGetVersion(&value) == cudaSuccess);
  CHECK(value == 13000);
  size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaSuccess);
  CHECK(limit == 1024);
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth) == cudaErrorUnsupportedLimit);
  CHECK(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("options: the machine is read, nonsense is refused in one line") {
  CHECK(parse_runtime_options(nullptr).machine == "b200");
  CHECK(parse_runtime_options(R"({"machine":"h200","jitter":7})").machine == "h200");
  CHECK_THROWS_WITH(parse_runtime_options("{oops"), Catch::Matchers::Contains("EMU_OPTIONS"));
  CHECK_THROWS_WITH(parse_runtime_options(R"({"machine":5})"), Catch::Matchers::Contains("machine"));
  CHECK_THROWS_WITH(machine_named("b300"), Catch::Matchers::Contains("b200 or h200"));
}
