// The event stream of a run. Listeners watch, they never steer: removing every listener changes no value and
// no time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
inline constexpr size_t kStalls = 16;
std::string_view name(Stall stall);

enum class Unit : uint8_t { TensorCore, Tma, TmaStore, Tmem, Mufu, Count };
std::string_view name(Unit unit);

// The pipes that instructions issue to: the first of each of the four sub-partitions, the last two of the SM.
enum class Pipe : uint8_t { None, Fma, Alu, Mufu, Fp64, Uniform, SharedPort, Memory, Count };
inline constexpr size_t kPipes = static_cast<size_t>(Pipe::Count);
// Cycles for which an instruction takes each pipe.
using PipeCycles = std::array<double, kPipes>;

// One level of inlining at which an instruction stands.
struct Frame {
  std::string file;
  uint32_t line = 0;
  std::string function;  // as in the source, without namespaces and arguments
};

// An instruction of the program. The object lives until launch_ends() has returned.
struct Site {
  std::string opcode;
  std::vector<Frame> frames;  // innermost first; the last one is the kernel
  int kernel_frame = -1;      // the innermost frame in the kernel's own source file rather than a header
};

struct Place {
  uint32_t sm = 0;
  uint64_t cta = 0;   // linear index in the grid
  int32_t warp = -1;  // within the CTA, -1: none
  uint32_t line = 0;  // line of the kernel's source file (Site::kernel_frame), 0 if unknown
  std::string_view file;
  std::string_view opcode;
  const Site* site = nullptr;
};

// All times are SM clock cycles since the launch began on that SM.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void launch_begins(std::string_view kernel, double clock_ghz, bool modelled) {}
  // What running the launch cost here, on the machine that emulates; before launch_ends().
  virtual void host_worked(uint64_t warp_instructions, double seconds) {}
  virtual void launch_ends(double cycles) {}
  virtual void cta_begins(const Place&, double time, uint32_t warps) {}
  virtual void cta_ends(const Place&, double time) {}
  // A warp issued an instruction occupying `slots` issue slots; `cost_class` is a timing::CostClass.
  virtual void issued(const Place&, double time, uint32_t slots, uint8_t cost_class, const PipeCycles&) {}
  // A warp waited from begin to end before the instruction at `place` could issue or complete.
  // `object` is the shared address of the mbarrier, or the barrier id; `phase` the phase waited for.
  virtual void stalled(const Place&, Stall, double begin, double end, uint64_t object, uint64_t phase) {}
  // An asynchronous operation: issued, served by its unit from start to end, results visible at `visible`.
  // `target`: the tensor core's accumulator address, or the mbarrier that hears of a TMA load.
  // `source`: the offset of a TMA operation's tensor map among the kernel's parameters, -1 elsewhere.
  virtual void operation(const Place&, Unit, double issue, double start, double end, double visible,
                         uint64_t bytes, std::string_view label, uint64_t target = 0, int64_t source = -1) {}
  // An arrival on an mbarrier, by a thread (then `place` says which) or a unit; `completed` if it ended
  // `phase`. `object` is the barrier's shared address.
  virtual void arrived(const Place&, double time, uint64_t object, uint64_t phase, bool completed,
                       std::string_view by) {}
  // The last warp arrived at bar.sync or a relative and so ended `phase` of barrier `barrier`.
  virtual void met(const Place&, double time, uint32_t barrier, uint64_t phase) {}
};

// Passes every event on to all of `listeners`, in order.
class FanOut final : public Listener {
 public:
  explicit FanOut(std::vector<std::unique_ptr<Listener>> listeners) : listeners_(std::move(listeners)) {}
  void launch_begins(std::string_view kernel, double clock_ghz, bool modelled) override;
  void host_worked(uint64_t warp_instructions, double seconds) override;
  void launch_ends(double cycles) override;
  void cta_begins(const Place&, double time, uint32_t warps) override;
  void cta_ends(const Place&, double time) override;
  void issued(const Place&, double time, uint32_t slots, uint8_t cost_class, const PipeCycles&) override;
  void stalled(const Place&, Stall, double begin, double end, uint64_t object, uint64_t phase) override;
  void operation(const Place&, Unit, double issue, double start, double end, double visible, uint64_t bytes,
                 std::string_view label, uint64_t target, int64_t source) override;
  void arrived(const Place&, double time, uint64_t object, uint64_t phase, bool completed,
               std::string_view by) override;
  void met(const Place&, double time, uint32_t barrier, uint64_t phase) override;

 private:
  std::vector<std::unique_ptr<Listener>> listeners_;
};

// "void chapter::(anonymous namespace)::softmax(float)", mangled or not, as "softmax".
std::string short_function_name(std::string_view symbol);

}  // namespace emu::observe
