#include "harness/device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "cuda/emu_query.h"
#include "harness/options.h"

namespace harness {
namespace {

constexpr int kWarmUps = 5;
constexpr int kRepeats = 25;

struct Event {
  Event() { require_success(cudaEventCreate(&event), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t event = nullptr;
};

double time_once(const std::function<void(cudaStream_t)>& launch) {
  const Event begin, end;
  require_success(cudaEventRecord(begin.event, nullptr), "cudaEventRecord");
  launch(nullptr);
  require_success(cudaGetLastError(), "launch");
  require_success(cudaEventRecord(end.event, nullptr), "cudaEventRecord");
  require_success(cudaDeviceSynchronize(), "kernel");
  float milliseconds = 0;
  require_success(cudaEventElapsedTime(&milliseconds, begin.event, end.event), "cudaEventElapsedTime");
  return milliseconds;
}

}  // namespace

void require_success(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw CudaFailure(fmt::format("{}: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error)));
}

Device require_b200(int chapter_number) {
  const auto refuse = [&](const std::string& what) {
    return EarlyExit(
        fmt::format("ch{0:02}: {1}; `make ch{0:02}` runs it on the emulator\n", chapter_number, what),
        kExitWrongDevice);
  };
  int index = 0;
  cudaDeviceProp properties{};
  cudaError_t error = cudaGetDevice(&index);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, index);
  if (error != cudaSuccess)
    throw refuse(fmt::format("no usable CUDA device ({})", cudaGetErrorString(error)));
  if (properties.major != 10 || properties.minor != 0) {
    throw refuse(fmt::format("device {} is {}, compute capability {}.{}, and sm_100a code needs 10.0 (B200)",
                             index, properties.name, properties.major, properties.minor));
  }
  const std::string name = properties.name;
  return {.name = name, .emulated = name.find("emulated") != std::string::npos};
}

Buffer::Buffer(size_t bytes) : bytes_(bytes) {
  require_success(cudaMalloc(&data_, bytes), fmt::format("cudaMalloc of {} bytes", bytes).c_str());
}
Buffer::~Buffer() { cudaFree(data_); }
void Buffer::upload(const void* source) const {
  require_success(cudaMemcpy(data_, source, bytes_, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
}
void Buffer::download(void* target) const {
  require_success(cudaMemcpy(target, data_, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy from the device");
}
void Buffer::poison() const { require_success(cudaMemset(data_, 0xFF, bytes_), "cudaMemset"); }

std::optional<EmulatedLaunch> last_emulated_launch() {
  const auto query = reinterpret_cast<decltype(&emuGetLastLaunch)>(dlsym(RTLD_DEFAULT, "emuGetLastLaunch"));
  EmuLaunchInfo info{};
  if (query == nullptr || query(&info) != 0) return std::nullopt;
  return EmulatedLaunch{.time_modelled = info.time_modelled != 0,
                        .sampled = info.sampled != 0,
                        .ctas_run = static_cast<int64_t>(info.ctas_run),
                        .ctas_total = static_cast<int64_t>(info.ctas_total)};
}

void allow_sampling() {
  const auto allow = reinterpret_cast<decltype(&emuAllowSampling)>(dlsym(RTLD_DEFAULT, "emuAllowSampling"));
  if (allow != nullptr) allow(1);
}

bool time_is_known() {
  const std::optional<EmulatedLaunch> launch = last_emulated_launch();
  return !launch || launch->time_modelled;
}

std::vector<double> time_launches(const Device& device, bool repeat, const std::function<void()>& before,
                                  const std::function<void(cudaStream_t)>& launch) {
  const bool once = device.emulated || !repeat;
  std::vector<double> milliseconds;
  for (int i = once ? 0 : -kWarmUps; i < (once ? 1 : kRepeats); ++i) {
    before();
    const double time = time_once(launch);
    if (i >= 0) milliseconds.push_back(time);
  }
  return milliseconds;
}

}  // namespace harness
