// Warps: frames of registers, fragments with their own program counter, reconvergence groups.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gpu/event_queue.h"
#include "gpu/program.h"
#include "observe/events.h"
#include "units/bulk_group.h"

namespace emu::gpu {

struct Cta;
struct Warp;

// Registers of one activation of a function, for all lanes.
struct Frame {
  const Program* program = nullptr;
  Frame* caller = nullptr;
  uint32_t return_pc = 0;
  int return_group = -1;
  LaneMask lanes = 0;            // lanes that have not returned
  uint32_t local_base = 0;       // bytes in the thread's local memory
  uint32_t alloca_bytes = 0;     // taken by alloca beyond the program's own
  const Detail* call = nullptr;  // the call that made it
  std::unique_ptr<uint32_t[]> storage;
  size_t storage_words = 0;
  uint32_t* registers = nullptr;  // 64-byte aligned
  std::vector<uint32_t> predicates;
  std::vector<Time> slot_ready;     // timed mode only
  std::vector<uint8_t> slot_pipe;   // the Pipe that wrote it
  std::vector<Time> predicate_ready;  // as data
  std::vector<Time> guard_ready;      // as a guard
};

// Lanes of a warp at one program counter.
struct Fragment {
  enum class State : uint8_t { Runnable, Blocked, Parked, Free };
  Warp* warp = nullptr;
  Frame* frame = nullptr;
  LaneFile file{};
  LaneMask mask = 0;
  uint32_t pc = 0;
  int group = -1;  // innermost reconvergence group
  State state = State::Free;
  Time time = 0;         // when it can issue next
  size_t run_index = 0;  // position among the runnable
  uint64_t serial = 0;   // changes at every wake-up and reuse: stale time limits recognise themselves by it
  bool wait_expired = false;  // woken by its time limit, not by what it waited for
  uint32_t failed_tests = 0;  // consecutive failing test_wait
  bool issued = false;        // timed mode: the instruction at pc has issued and waits for something
  uint64_t steps_since_split = 0;
  // For the deadlock report and the trace.
  observe::Stall stall = observe::Stall::None;
  observe::Stall woken_from = observe::Stall::None;  // what the latest wake-up ended
  bool released = false;                             // bar.warp.sync: the last arriver let it go
  uint64_t wait_object = 0;
  uint64_t wait_value = 0;
  Cta* wait_cta = nullptr;
  Time blocked_at = 0;
};

// A blocked fragment in a waiting list. The serial tells a stale entry: the fragment was woken by something
// else since.
struct Waiter {
  Fragment* fragment = nullptr;
  uint64_t serial = 0;
};

// Lanes that split at a branch meet again at `pc`.
struct Group {
  int parent = -1;
  uint32_t pc = 0;
  Frame* frame = nullptr;
  LaneMask members = 0;
  LaneMask arrived = 0;
  Time latest = 0;
  bool used = false;
};

// tcgen05.ld in flight: values land in the registers at `ready`.
struct PendingLoad {
  Frame* frame = nullptr;
  const Detail* detail = nullptr;
  LaneMask lanes = 0;
  Time ready = 0;
  bool landed = false;
  std::vector<uint32_t> values;  // registers x 32 lanes
};

// tcgen05.st that has not been performed: it is when its warp waits for it, or late on its own.
struct PendingStore {
  units::TmemAccess access;
  int first_column = 0, columns = 0;
  Time done = 0;                 // when the port has served it
  std::vector<uint32_t> values;  // registers x 32 lanes
  const Program* program = nullptr;
  uint32_t source = 0;
};

struct Warp {
  Cta* cta = nullptr;
  uint32_t index = 0;             // within the CTA
  uint32_t smsp = 0;              // sub-partition that issues it
  LaneMask all = 0;               // lanes that exist
  LaneMask live = 0;              // lanes that have not exited
  std::vector<uint32_t> special;  // SpecialSlot::Count x 32
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<Frame*> free_frames;
  std::vector<Fragment*> fragments;  // not Free
  std::vector<Group> groups;
  // Local memory: lane l's bytes begin at local + l * local_stride.
  std::byte* local = nullptr;
  size_t local_stride = 0;
  // Asynchronous state of the threads.
  std::array<std::unique_ptr<units::BulkGroups>, 32> bulk;
  std::array<std::unique_ptr<units::BulkGroups>, 32> copies;  // cp.async
  std::array<Time, 32> mma_done{};                            // completion of the thread's latest tcgen05.mma
  std::array<Time, 32> copies_done{};                         // completion of its latest cp.async
  std::deque<PendingLoad> tmem_loads;
  std::vector<std::vector<uint32_t>> spare_values;  // of loads that have landed, for the next ones
  std::deque<PendingStore> tmem_stores;
  std::shared_ptr<char> alive = std::make_shared<char>();  // late events hold a weak pointer to it
  Time tmem_stores_done = 0;
  Time tmem_loads_done = 0;
  uint64_t cluster_phase = 0;  // cluster barrier phase at this warp's latest arrive
  LaneMask cluster_arrived = 0;
  uint64_t instructions = 0;

  uint32_t* special_slot(isa::SpecialSlot slot) {
    return special.data() + static_cast<size_t>(slot) * isa::kLanes;
  }
};

}  // namespace emu::gpu
