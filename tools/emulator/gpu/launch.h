// What all processors of one grid share.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <unordered_map>

#include "cuda/engine.h"
#include "gpu/fault.h"
#include "gpu/options.h"
#include "gpu/program.h"
#include "gpu/snapshot.h"
#include "memory/global_memory.h"
#include "observe/events.h"

namespace emu::gpu {

struct Launch {
  const cuda::LaunchRequest* request = nullptr;
  Kernel* kernel = nullptr;
  const Options* options = nullptr;
  memory::GlobalMemory* memory = nullptr;
  observe::Listener* listener = nullptr;
  uint64_t grid_id = 0;
  uint64_t parameters = 0;      // address of the parameter block
  uint64_t grid_workspace = 0;  // cooperative launches: what %envreg1:%envreg2 name
  uint32_t shared_bytes = 0;    // static + dynamic, per CTA
  cuda::Dim3 clusters;          // of the grid, per dimension

  std::optional<SnapshotRequest> snapshot;  // of CTA 0
  std::atomic<uint32_t> snapshot_hits{0};

  std::atomic<bool> failed{false};
  std::atomic<bool> stale_reported{false};  // one report of each kind a launch
  std::atomic<bool> store_reported{false};
  std::atomic<uint64_t> ctas_run{0};
  std::atomic<uint64_t> heap_bytes{0};

  // The first fault wins; later ones are consequences.
  void fail(Fault fault) {
    std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(fault);
    failed = true;
  }
  // A broken rule that does not end the run, printed once for each text.
  void warn(const std::string& text);
  std::optional<Fault> fault() const { return fault_; }
  // What listeners are told of an instruction; one worker only.
  const observe::Site& site(const Program& program, const ptx::Instruction& instruction);
  // Device printf output, in the order the lanes printed.
  void print(const std::string& text);

 private:
  std::unordered_map<const ptx::Instruction*, std::unique_ptr<observe::Site>> sites_;
  std::map<std::pair<const ptx::Module*, std::string>, std::string> function_names_;
  std::mutex mutex_;
  std::optional<Fault> fault_;
  std::vector<std::string> warnings_;
};

}  // namespace emu::gpu
