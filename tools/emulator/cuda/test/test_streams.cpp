#include <thread>

#include "program.h"
#include "testing/catch.h"

using namespace emu::cuda;
using emu::cuda::test::launch;
using emu::cuda::test::Program;

namespace {

float elapsed(cudaEvent_t start, cudaEvent_t end) {
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaSuccess);
  return ms;
}

}  // namespace

TEST_CASE("events measure the modelled time of the launches between them") {
  Program program;
  cudaEvent_t start = nullptr, end = nullptr;
  REQUIRE(cudaEventCreate(&start) == cudaSuccess);
  REQUIRE(cudaEventCreate(&end) == cudaSuccess);
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle);  // not recorded yet
  CHECK(cudaEventRecord(start, nullptr) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle);
  for (int i = 0; i < 3; ++i) launch(&program.with_static, 1, 1, 0, nullptr, nullptr);
  CHECK(cudaEventRecord(end, nullptr) == cudaSuccess);
  CHECK(elapsed(start, end) == Approx(0.003));
  cudaEventDestroy(start);
  cudaEventDestroy(end);
}

TEST_CASE("a stream that waits for an event starts after it, an independent one does not wait for copies") {
  Program program;
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t start = nullptr, done = nullptr, end = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking) == cudaSuccess);
  cudaEventCreate(&start);
  cudaEventCreate(&done);
  cudaEventCreate(&end);
  cudaDeviceSynchronize();
  cudaEventRecord(start, b);
  void* device = nullptr;
  cudaMalloc(&device, 1 << 20);
  cudaMemsetAsync(device, 0, 1 << 20, a);
  cudaEventRecord(done, a);
  cudaEventRecord(end, b);
  CHECK(elapsed(start, end) == 0);
  CHECK(elapsed(start, done) > 0);
  CHECK(cudaStreamWaitEvent(b, done, 0) == cudaSuccess);
  cudaEventRecord(end, b);
  CHECK(elapsed(done, end) == 0);
  CHECK(cudaStreamDestroy(a) == cudaSuccess);
  CHECK(cudaStreamDestroy(a) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamSynchronize(a) == cudaErrorInvalidResourceHandle);
  cudaStreamDestroy(b);
  cudaFree(device);
}

TEST_CASE("the legacy default stream waits for blocking streams and holds them back") {
  Program program;
  cudaStream_t stream = nullptr;
  cudaEvent_t on_stream = nullptr, on_default = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  cudaEventCreate(&on_stream);
  cudaEventCreate(&on_default);
  launch(&program.with_static, 1, 1, 0, stream, nullptr);
  cudaEventRecord(on_stream, stream);
  cudaEventRecord(on_default, nullptr);
  CHECK(elapsed(on_stream, on_default) == 0);
  launch(&program.with_static, 1, 1, 0, nullptr, nullptr);
  cudaEventRecord(on_stream, stream);
  CHECK(elapsed(on_default, on_stream) == Approx(0.001));
  cudaStreamDestroy(stream);
}

// Codes recorded on an H200.
TEST_CASE("misused streams and events get CUDA's codes") {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  float ms = 0;
  CHECK(cudaStreamCreateWithFlags(&stream, 5) == cudaErrorInvalidValue);
  CHECK(cudaStreamCreate(nullptr) == cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventCreateWithFlags(&event, 0x80) == cudaErrorInvalidValue);
  CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess) == cudaErrorInvalidValue);
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(cudaEventRecord(event, nullptr) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, event, event) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamWaitEvent(nullptr, nullptr, 0) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamWaitEvent(nullptr, event, 2) == cudaErrorInvalidValue);
  CHECK(cudaEventRecord(nullptr, nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaLaunchHostFunc(nullptr, nullptr, nullptr) == cudaErrorInvalidValue);
  int low = 9, high = 9, priority = 9;
  CHECK(cudaDeviceGetStreamPriorityRange(&low, &high) == cudaSuccess);
  CHECK(low == 0);
  CHECK(high == -5);
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100) == cudaSuccess);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == -5);
  cudaStreamDestroy(stream);
  cudaGetLastError();
}

TEST_CASE("a stream keeps the attributes that it is given") {
  cudaStream_t stream = nullptr, other = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&other) == cudaSuccess);
  cudaStreamAttrValue window{}, seen{};
  window.accessPolicyWindow.num_bytes = 4096;
  window.accessPolicyWindow.hitRatio = 0.5f;
  constexpr auto kWindow = cudaStreamAttributeAccessPolicyWindow;
  CHECK(cudaStreamGetAttribute(stream, kWindow, &seen) == cudaSuccess);
  CHECK(seen.accessPolicyWindow.num_bytes == 0);
  CHECK(cudaStreamSetAttribute(stream, kWindow, &window) == cudaSuccess);
  CHECK(cudaStreamCopyAttributes(other, stream) == cudaSuccess);
  CHECK(cudaStreamGetAttribute(other, kWindow, &seen) == cudaSuccess);
  CHECK(seen.accessPolicyWindow.num_bytes == 4096);
  window.accessPolicyWindow.hitRatio = 1.5f;
  CHECK(cudaStreamSetAttribute(stream, kWindow, &window) == cudaErrorInvalidValue);
  CHECK(cudaStreamSetAttribute(stream, cudaLaunchAttributeClusterDimension, &window) ==
        cudaErrorInvalidValue);
  CHECK(cudaStreamSetAttribute(stream, kWindow, nullptr) == cudaErrorInvalidValue);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other);
  cudaGetLastError();
}

TEST_CASE("stream capture is refused, not ignored") {
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorNotSupported);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  CHECK(cudaStreamIsCapturing(nullptr, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusNone);
  cudaGetLastError();
}

TEST_CASE("host functions run in stream order, last errors belong to threads") {
  int value = 0;
  CHECK(cudaLaunchHostFunc(
            nullptr, [](void* p) { ++*static_cast<int*>(p); }, &value) == cudaSuccess);
  CHECK(value == 1);
  cudaGetLastError();
  cudaError_t theirs = cudaSuccess;
  std::thread([&] {
    cudaMalloc(nullptr, 1);
    theirs = cudaGetLastError();
  }).join();
  CHECK(theirs == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("two host threads launch and copy without disturbing each other") {
  Program program;
  const size_t before = fake_engine().launches.size();
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) {
      void* p = nullptr;
      cudaMalloc(&p, 256);
      cudaMemset(p, i, 256);
      launch(&program.with_static, 1, 1, 0, nullptr, nullptr);
      cudaFree(p);
    }
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(fake_engine().launches.size() == before + 400);
}
