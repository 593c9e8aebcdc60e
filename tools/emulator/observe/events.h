// The event stream of a run. Listeners watch, they never steer: removing every listener changes no value and
// no time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace emu::observe {

// Why a warp did not issue.
enum class Stall : uint8_t {
  None,
  Issue,
  Dependency,
  Pipe,
  Barrier,
  Mbarrier,
  TmemLoad,
  TmemStore,
  Tma,
  ClusterBarrier,
  Gather,
  Join,
  Sleep,
  BulkGroup,
  Allocation,
  Launch
};
enum class Unit : uint8_t { TensorCore, Tma, TmaStore, Tmem, Mufu, Count };

struct Place {
  uint32_t sm = 0;
  uint64_t cta = 0;   // linear index in the grid
  int32_t warp = -1;  // within the CTA, -1: none
  uint32_t line = 0;  // source line of the instruction, 0 if unknown
  std::string_view file;
  std::string_view opcode;
};

// All times are SM clock cycles since the launch began on that SM.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void launch_begins(std::string_view kernel, double clock_ghz, bool modelled) {}
  virtual void launch_ends(double cycles) {}
  virtual void cta_begins(const Place&, double time, uint32_t warps) {}
  virtual void cta_ends(const Place&, double time) {}
  // A warp issued an instruction occupying `slots` issue slots; `class_name` is its cost class.
  virtual void issued(const Place&, double time, uint32_t slots, uint8_t cost_class) {}
  // A warp waited from begin to end before the instruction at `place` could issue or complete.
  // `object` is the shared offset of the mbarrier, or the barrier id; `phase` the phase waited for.
  virtual void stalled(const Place&, Stall, double begin, double end, uint64_t object, uint64_t phase) {}
  // An asynchronous operation: issued, served by its unit from start to end, results visible at `visible`.
  virtual void operation(const Place&, Unit, double issue, double start, double end, double visible,
                         uint64_t bytes, std::string_view label) {}
  // An arrival on an mbarrier, by a thread or a unit; `completed` if it ended the phase.
  virtual void arrived(const Place&, double time, uint64_t object, uint64_t phase, bool completed,
                       std::string_view by) {}
};

}  // namespace emu::observe
