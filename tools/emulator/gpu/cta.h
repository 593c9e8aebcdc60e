// CTAs, the clusters they form and the SMs they run on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cuda/engine.h"
#include "gpu/warp.h"
#include "memory/shared_memory.h"
#include "units/mbarrier.h"
#include "units/tmem.h"

namespace emu::gpu {

struct Sm;
struct Cluster;

// bar.sync and its relatives: one of the sixteen barriers of a CTA.
struct NamedBarrier {
  std::array<LaneMask, 64> arrived{};  // by warp, this phase
  uint32_t expected = 0;               // threads, 0: every thread of the CTA
  bool any = false;                    // somebody has arrived in this phase
  Time latest = 0;                     // when the last arrival so far counts
  uint32_t popc = 0;                   // bar.red
  bool all = true, some = false;
  uint64_t phase = 0;
  std::vector<Waiter> waiting;
  // Results of the completed phase, read when the waiters resume.
  uint32_t last_popc = 0;
  bool last_all = false, last_some = false;
};

struct Cta {
  uint64_t linear = 0;  // in the grid
  cuda::Dim3 id{0, 0, 0};
  uint32_t rank = 0;   // in its cluster
  uint64_t owner = 0;  // its name towards tensor memory
  Cluster* cluster = nullptr;
  Sm* sm = nullptr;
  std::unique_ptr<memory::SharedMemory> shared;
  units::MbarrierTable mbarriers;
  std::array<NamedBarrier, 16> barriers;
  std::vector<std::unique_ptr<Warp>> warps;
  uint32_t live_warps = 0;
  uint32_t in_flight = 0;  // asynchronous operations that will still touch it
  bool retired = false;
  std::unordered_map<uint32_t, std::vector<Waiter>> mbarrier_waiters;  // by shared offset
  Time started = 0;
};

struct Cluster {
  uint64_t linear = 0;
  std::vector<std::unique_ptr<Cta>> ctas;  // by rank
  uint64_t barrier_phase = 0;
  std::vector<Waiter> barrier_waiters;
  uint32_t live_ctas = 0;
  uint32_t slot = 0;  // residency slot of the processor
};

struct Smsp {
  Time issue_free = 0;
  std::array<Time, 8> pipe_free{};
  uint64_t issued = 0;
};

struct Sm {
  uint32_t id = 0;
  units::TensorMemory tmem;
  std::vector<Waiter> tmem_waiters;  // blocked in tcgen05.alloc
  std::array<Smsp, 4> smsp;
  std::array<Time, 8> shared_pipe_free{};  // SM-wide pipes
  Time tensor_free = 0;                    // the tensor core can start its next operation
  Time tensor_latest = 0;                  // completions stay in issue order
  Time tma_free = 0;
  Time tma_store_free = 0;
  Time barrier_free = 0;  // the unit that counts bar.sync and bar.arrive
  std::array<Time, 4> tmem_port_free{};
};

}  // namespace emu::gpu
