// The SMs that host one cluster at a time (one SM when there are no clusters), simulated as one event-driven
// machine.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "gpu/cta.h"
#include "gpu/event_queue.h"
#include "gpu/fault.h"
#include "gpu/issue.h"
#include "gpu/launch.h"
#include "gpu/run_times.h"
#include "memory/address_space.h"
#include "memory/global_memory.h"
#include "units/tma_tile.h"

namespace emu::gpu {

// One integer reduction of red.async in a word of 4 or 8 bytes (exec_atomic.cpp).
void reduce_word(const Detail& detail, std::byte* word, const std::byte* value);

class Processor {
 public:
  enum class Run : uint8_t { Finished, Budget, Idle };

  // Hosts clusters `first`, `first + stride`, ... below `end`, at most `resident` at a time.
  Processor(Launch& launch, uint32_t index, uint64_t first, uint64_t stride, uint64_t end, uint32_t resident);
  ~Processor();

  // Executes until every cluster is done, the launch failed, or about `budget` warp instructions have run.
  // Idle: only another processor can make this one go on (a spin on global memory), nothing changed during
  // the whole budget.
  Run run(uint64_t budget);
  Time end_time() const { return end_time_; }
  // When each hosted cluster ended, in order: what the extrapolation of sampled grids uses.
  const std::vector<Time>& cluster_ends() const { return cluster_ends_; }
  uint64_t instructions() const { return instructions_; }

 private:
  // Who issued an operation, kept until it completes: turned into text only when there is something to
  // report.
  struct Issuer {
    const Program* program = nullptr;
    uint32_t source = 0;
    cuda::Dim3 cta;
    uint32_t warp = 0;
    LaneMask lanes = 0;
    bool in_call = false;
  };
  Issuer issuer(const Fragment& f, const Instr& in, LaneMask lanes) const {
    return {f.frame->program, in.source, f.warp->cta->id, f.warp->index, lanes, f.frame->caller != nullptr};
  }

  // --- scheduling (processor.cpp)
  void start_clusters(Time now);
  void start_cluster(uint64_t linear, uint32_t slot, Time now);
  std::unique_ptr<Cta> make_cta(Cluster& cluster, uint32_t rank, Time now);
  void fill_special(Warp& warp);
  void warp_exited(Warp& warp, Time now);
  void maybe_retire(Cta& cta, Time now);
  void retire_cluster(Cluster& cluster, Time now);
  template <bool kTimed>
  void step(Fragment& fragment, Time limit);
  void enter(Fragment& fragment);  // into the runnable set
  void leave(Fragment& fragment);
  void wake(Fragment& fragment, Time when);
  void wake(const Waiter& waiter, Time when) {
    if (waiter.fragment->serial == waiter.serial) wake(*waiter.fragment, when);
  }
  void wake_all(std::vector<Waiter>& waiters, Time when);
  void block(Fragment& fragment, observe::Stall reason, uint64_t object = 0, uint64_t value = 0);
  void limit_wait(Fragment& fragment, Time when);  // soft wake-up
  bool quiesce();  // nothing can run: release parked lanes; false when there are none
  void release_parked(Warp& warp);
  [[noreturn]] void report_deadlock();
  void reached_watched(const Fragment& fragment, const Instr& instr, Time now);
  bool only_spins();  // every runnable fragment is back where it was, registers and all
  void note_progress() { ++progress_; }
  void handle(Fragment& fragment, const Fault& fault);

  // --- divergence (divergence.cpp)
  Fragment& new_fragment(Warp& warp, Frame* frame, LaneMask mask, uint32_t pc, int group, Time time);
  void free_fragment(Fragment& fragment);
  int new_group(Warp& warp, int parent, uint32_t pc, Frame* frame, LaneMask members);
  void split(Fragment& fragment, LaneMask taken, uint32_t target, int reconverge);
  bool arrive_at_join(Fragment& fragment);  // true: the fragment goes on, possibly with more lanes
  void remove_from_groups(Warp& warp, LaneMask lanes, int from, int until);
  void group_changed(Warp& warp, int group);
  bool gather(Fragment& fragment, LaneMask needed);
  void merge(Fragment& into, Fragment& from);
  void retry_gatherers(Warp& warp, Time now);
  Frame* new_frame(Warp& warp, const Program* program);
  void bind(Fragment& fragment, Frame* frame);

  // --- operations
  Outcome execute(Fragment& fragment, const Instr& instr, LaneMask active);
#define EMU_DECLARE_EXEC(name, function) Outcome exec_##function(Fragment&, const Instr&, LaneMask);
  EMU_GPU_OPS(EMU_DECLARE_EXEC)
#undef EMU_DECLARE_EXEC
  using ExecFn = Outcome (Processor::*)(Fragment&, const Instr&, LaneMask);
  static const ExecFn kExec[];

  const Detail& detail(const Fragment& f, const Instr& in) const { return f.frame->program->details[in.aux]; }
  const ptx::Instruction& ptx_of(const Fragment& f, const Instr& in) const {
    return f.frame->program->function->instructions[in.source];
  }

  // --- addresses (exec_memory.cpp)
  uint64_t symbol_value(const Fragment& f, const AddressOperand& address) const;
  uint64_t lane_address(const Fragment& f, const AddressOperand& address, uint64_t symbol, int lane) const {
    if (!address.has_base) return symbol;
    const uint64_t base =
        address.wide ? f.file.at<uint64_t>(address.base)[lane] : f.file.at<uint32_t>(address.base)[lane];
    return base + static_cast<uint64_t>(address.offset);
  }
  uint64_t uniform_address(const Fragment& f, const AddressOperand& address, LaneMask active) const;
  // The offsets of a plain access of `bytes` to the CTA's own shared memory, lane by lane. False when an
  // active lane's address is anything else: a peer's, out of bounds, misaligned; locate() then says what it
  // is.
  bool own_shared_offsets(const Fragment& f, const Detail& d, LaneMask active, uint32_t bytes,
                          std::array<uint32_t, 32>& offsets) const;
  struct Location {
    std::byte* bytes = nullptr;
    Cta* cta = nullptr;   // shared memory of this CTA
    uint32_t offset = 0;  // and the offset in it
  };
  Location locate(Fragment& f, ptx::Space space, uint64_t address, uint32_t bytes, int lane, bool write,
                  uint32_t align);
  Cta& cta_of_shared(Fragment& f, uint32_t shared_address, const char* what);
  uint32_t shared_address(Fragment& f, ptx::Space space, uint64_t address, const char* what);
  std::byte* local_memory(Warp& warp, int lane, uint64_t offset, uint32_t bytes);
  void reserve_local(Warp& warp, uint64_t bytes);
  [[noreturn]] void bad_address(const Fragment& f, ptx::Space space, uint64_t address, uint32_t bytes,
                                int lane, bool write);
  void note_shared_write(Fragment& f, const Location& at, uint32_t bytes, int lane, const Instr& in);
  Location mbarrier_at(Fragment& f, const Detail& d, const AddressOperand& address, int lane,
                       const char* what);
  uint32_t tag_of(const Fragment& f, const Instr& in) const;
  std::string describe_tag(uint32_t tag) const;

  // --- synchronisation (exec_barrier.cpp)
  void complete_cta_barrier(Cta& cta, uint32_t id, Time now);
  void check_cta_barrier(Cta& cta, uint32_t id, Time now);
  void check_cluster_barrier(Cluster& cluster, Time now);
  void barrier_result(Cta& cta, uint32_t offset, const units::MbarrierResult& result, Time now,
                      const char* by);
  void wake_mbarrier(Cta& cta, uint32_t offset, Time now);
  void check_mbarrier(const units::MbarrierResult& result);

  // --- asynchronous units (exec_bulk.cpp, exec_tensor.cpp)
  Time jitter(Time bound);  // 0 unless --jitter
  void complete_tx(Cta& cta, uint32_t offset, uint32_t bytes, Time now, const char* by);
  void report_stale(const Cta& cta, uint32_t offset, uint32_t bytes, const char* what, const Issuer& reader);
  void start_commit(Fragment& f, const Instr& in, Cta& cta, uint32_t offset, Time when);
  void land_tmem_loads(Warp& warp, Time now);
  bool touches_pending_load(const Warp& warp, const Frame* frame, uint32_t pc) const;
  void land_tmem_stores(Warp& warp, Time until, Time now);
  // `quarter`: of the lanes read, -1 for all.
  void report_unwaited_store(const Cta& cta, int quarter, int first_column, int columns, const char* what,
                             const Issuer& reader,
                             const char* outcome = "The old values were read; --lenient forgives this.");
  void serve_port_in_order(const Warp& loader, int first_column, int columns, const Issuer& reader);
  Time tma_service(Sm& sm, Time issue, uint32_t rows, double cycles_per_row, Time* start);
  units::BulkGroups& bulk_groups(Warp& warp, int lane);
  units::BulkGroups& copy_groups(Warp& warp, int lane);
  void wake_bulk_waiters(Warp& warp, Time now);
  observe::Place place(const Fragment& f, const Instr& in) const;
  std::string describe(const Issuer& issuer) const;
  std::string describe_place(const Fragment& f, const Instr& in, LaneMask active) const {
    return describe(issuer(f, in, active));
  }
  std::string describe_wait(const Fragment& f) const;

  // --- calls (exec_calls.cpp)
  void enter_call(Fragment& f, const Instr& in, const Detail& d, LaneMask active, int32_t callee);
  Outcome call_builtin(Fragment& f, const Detail& d, LaneMask active);

  // --- timed mode (issue.cpp)
  bool issue(Fragment& f, const Instr& in, LaneMask active, Time limit);
  Time port_cycles(Fragment& f, const Instr& in, LaneMask active);

  Launch& launch_;
  const timing::Machine& machine_;
  CostTable costs_;
  ForwardingTable forwarding_;
  uint32_t index_;
  uint64_t next_cluster_, stride_, end_cluster_;
  uint32_t resident_;
  bool timed_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<Cluster>> clusters_;  // by residency slot
  std::deque<Fragment> fragment_pool_;
  std::vector<Fragment*> free_fragments_;
  std::vector<Fragment*> runnable_;
  RunTimes run_time_;  // runnable_[i]->time
  Time newcomer_ = kNever;      // earliest fragment made runnable since the current step began
  EventQueue events_;
  // A tensor copy in flight; its memory serves the next one.
  struct TileCopy {
    struct Destination {  // where the bytes of a load land and whose barrier hears of it
      Cta* cta = nullptr;
      Cta* barrier_cta = nullptr;
    };
    units::TilePlan plan;
    std::vector<std::byte> staging;
    std::vector<Destination> destinations;
    void reserve(size_t bytes) {
      if (staging.size() < bytes) staging.resize(bytes);
    }
  };
  std::shared_ptr<TileCopy> spare_tile_copy();
  std::deque<std::shared_ptr<TileCopy>> tile_copies_;
  std::vector<std::byte> poison_;  // as long as the longest image so far
  std::mt19937_64 random_;
  memory::AllocationCache allocation_;
  Time end_time_ = 0;
  std::vector<Time> cluster_ends_;
  uint64_t instructions_ = 0;
  uint64_t progress_ = 0;
  uint64_t owner_serial_ = 0;
  uint32_t launched_ctas_ = 0;
  std::vector<std::pair<const Program*, uint32_t>> tags_;  // store instructions, for proxy reports
  Fragment* current_ = nullptr;
};

}  // namespace emu::gpu
