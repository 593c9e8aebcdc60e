#include "cuda/runtime.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "cuda/engine_factory.h"
#include "cuda/options.h"

namespace emu::cuda {

namespace {
std::atomic<bool> in_use{false};
}

Runtime& Runtime::instance() {
  // Never destroyed: programs call into CUDA from destructors that run after this library's own.
  static Runtime* const runtime = [] {
    try {
      auto* made = new Runtime;
      in_use = true;
      return made;
    } catch (const std::exception& error) {
      report(error.what());
      std::_Exit(2);
    }
  }();
  return *runtime;
}

Runtime::Runtime() {
  machine_ = &machine_named(parse_runtime_options(std::getenv("EMU_OPTIONS")).machine);
  set_default_limits();
}

void Runtime::set_default_limits() {
  // Defaults as an H200 reports them; 0x07 is the largest shared memory of a block.
  limits_ = {{cudaLimitStackSize, 1024},
             {cudaLimitPrintfFifoSize, 8650752},
             {cudaLimitMallocHeapSize, 8388608},
             {cudaLimitDevRuntimePendingLaunchCount, 2048},
             {cudaLimitMaxL2FetchGranularity, 64},
             {cudaLimitPersistingL2CacheSize, 11796480},
             {0x07, machine_->shared_per_block_optin()}};
}

Engine& Runtime::engine() {
  if (!engine_) engine_ = create_engine(*machine_);
  return *engine_;
}

void Runtime::unload(Module* module) {
  if (engine_ && module->handle != ModuleHandle::kNone) engine_->unload(module->handle);
  registry_.remove(module);
}

void Runtime::reset() {
  streams_.clear();
  compute_busy_until_ns = 0;
  fault_ = cudaSuccess;
  set_default_limits();
  if (!engine_) return;
  engine_->flush_output();
  using Kind = memory::AllocationKind;
  for (const memory::Allocation& allocation : memory().live()) {
    const bool of_program = allocation.kind == Kind::Device || allocation.kind == Kind::Managed ||
                            allocation.kind == Kind::PinnedHost || allocation.kind == Kind::Adopted;
    if (!of_program) continue;
    pools_.note_free(allocation.begin);
    memory().free(allocation.begin);
  }
}

void Runtime::finish() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !engine_) return;
  engine_->flush_output();
  engine_->finish();
}

void report(std::string_view message) {
  // A program that ignores an error meets it again at every call; saying it once is enough.
  static std::mutex mutex;
  static std::string previous;
  const std::lock_guard lock(mutex);
  if (message == previous) return;
  previous = message;
  std::fflush(stdout);
  fmt::print(stderr, "emu: {}\n", message);
}

namespace {

struct AtExit {
  ~AtExit() {
    if (in_use) Runtime::instance().finish();
  }
};

// Destroyed with the library, after the program's own handlers have run.
const AtExit at_exit;

}  // namespace
}  // namespace emu::cuda

extern "C" int emuGetLastLaunch(EmuLaunchInfo* info) {
  if (!info) return 1;
  emu::cuda::Runtime& runtime = emu::cuda::Runtime::instance();
  const std::lock_guard lock(runtime.mutex());
  *info = runtime.last_launch;
  return 0;
}

extern "C" int emuAllowSampling(int allowed) {
  emu::cuda::Runtime& runtime = emu::cuda::Runtime::instance();
  const std::lock_guard lock(runtime.mutex());
  runtime.may_sample = allowed != 0;
  return 0;
}
