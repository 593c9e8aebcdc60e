// The device a driver runs on, memory on it, and timed launches.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/harness.h"

namespace harness {

// A CUDA call or a launch failed; what() names the call, the error and its text.
struct CudaFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws CudaFailure unless `error` is cudaSuccess. `what` says what was being done.
void require_success(cudaError_t error, const char* what);

struct Device {
  std::string name;
  bool emulated = false;
};

// The current device. Throws EarlyExit with kExitWrongDevice where there is none or it is not compute
// capability 10.0: kernels for sm_100a run on nothing else.
Device require_b200(int chapter_number);

// Device memory, freed at the end of its scope.
class Buffer {
 public:
  explicit Buffer(size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  void upload(const void* source) const;
  void download(void* target) const;
  void poison() const;  // every byte 0xFF: NaN as BF16 and as FP32

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

// What the emulator says of the last launch; nothing on a GPU. Asked through emuGetLastLaunch, which the
// emulator exports and NVIDIA's library does not have.
struct EmulatedLaunch {
  bool time_modelled = false;  // false: event times say nothing about hardware
  bool sampled = false;        // only some CTAs ran; the others wrote nothing, their time is extrapolated
  int64_t ctas_run = 0;
  int64_t ctas_total = 0;
};
std::optional<EmulatedLaunch> last_emulated_launch();
// Lets the emulator run only some CTAs of a large grid; nothing on a GPU. Who calls it must look at `sampled`.
void allow_sampling();

// Whether event times of the last launch are those of a GPU, measured or modelled.
bool time_is_known();

// Milliseconds of each launch between two CUDA events; `before` runs ahead of each, outside the events.
// On a GPU: warm-up launches, then repeats. On the emulator: one launch, as modelled time does not vary.
std::vector<double> time_launches(const Device& device, bool repeat, const std::function<void()>& before,
                                  const std::function<void(cudaStream_t)>& launch);

}  // namespace harness
