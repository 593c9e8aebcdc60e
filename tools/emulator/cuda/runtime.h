#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "cuda/emu_query.h"
#include "cuda/engine.h"
#include "cuda/machine.h"
#include "cuda/memory_pool.h"
#include "cuda/registry.h"
#include "cuda/stream.h"
#include "memory/global_memory.h"

namespace emu::cuda {

// The one device of this process and everything the API keeps for it. Guarded by mutex(): every API call
// holds it, so two host threads never meet inside.
class Runtime {
 public:
  static Runtime& instance();

  std::recursive_mutex& mutex() { return mutex_; }
  const Machine& machine() const { return *machine_; }
  // Made at first use: a program that only asks for device properties starts no engine.
  Engine& engine();
  memory::GlobalMemory& memory() { return engine().global_memory(); }
  bool engine_started() const { return engine_ != nullptr; }

  StreamTable& streams() { return streams_; }
  Registry& registry() { return registry_; }
  PoolTable& pools() { return pools_; }
  std::map<int, size_t>& limits() { return limits_; }

  // An asynchronous fault poisons the device: from then on every call that touches it returns the fault
  // (measured).
  cudaError_t fault() const { return fault_; }
  void set_fault(cudaError_t error) { fault_ = error; }

  const KernelInfo& info(Kernel& kernel) { return kernel_info(kernel, engine(), machine().architecture); }
  const VariableInfo& info(Variable& variable) {
    return variable_info(variable, engine(), machine().architecture);
  }
  void open(Module& module) { open_module(module, engine(), machine().architecture); }
  void unload(Module* module);

  // Modelled time until which the SMs are taken: grids of different streams run one after another.
  double compute_busy_until_ns = 0;
  EmuLaunchInfo last_launch{};
  bool may_sample = false;  // emuAllowSampling
  // Flags of pinned and registered host memory, by its address.
  std::map<uint64_t, unsigned> host_flags;

  // Frees what the program holds on the device and forgets a fault (cudaDeviceReset).
  void reset();
  // End of the process: lets the engine write its statistics and traces.
  void finish();

 private:
  Runtime();
  void set_default_limits();

  std::recursive_mutex mutex_;
  const Machine* machine_ = nullptr;
  std::unique_ptr<Engine> engine_;
  StreamTable streams_;
  Registry registry_;
  PoolTable pools_;
  std::map<int, size_t> limits_;
  cudaError_t fault_ = cudaSuccess;
};

// One line on stderr, prefixed so that it cannot be taken for the program's own output.
void report(std::string_view message);

}  // namespace emu::cuda
