// A trace for ui.perfetto.dev, chrome://tracing and tools/timeline: emu --trace FILE.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "observe/events.h"
#include "observe/source_text.h"

namespace emu::observe {

// Chrome's JSON trace format. One microsecond of the viewer is one SM clock cycle.
//
// A process is a CTA; its threads are the warps and, above them, the units of its SM and its barriers:
//   tid 1 + w         warp w: the functions of the kernel's source it is in, nested, and inside them its
//   waits tid 1000          tensor core       tid 1001  TMA loads       tid 1002  TMA stores tid 1010 + s
//   TMEM port of sub-partition s                tid 1020 + s  its MUFU tid 2000 + n      the n-th mbarrier to
//   complete a phase, one slice a phase
// Flow arrows run from the arrival that completed a phase to the waits it ended.
//
// The first CTA is always written; further ones are admitted while the file holds fewer than `admit` events,
// and no event is written past `limit` (the trace then says so).
class TraceWriter final : public Listener {
 public:
  struct Limits {
    uint64_t admit = 100'000;
    uint64_t limit = 2'000'000;
  };
  // Throws std::runtime_error when `path` cannot be written.
  explicit TraceWriter(const std::string& path) : TraceWriter(path, Limits{}) {}
  TraceWriter(const std::string& path, Limits limits);
  ~TraceWriter() override;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void launch_begins(std::string_view kernel, double clock_ghz, bool modelled) override;
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
  struct Open {  // a function that a warp is in
    std::string function;
    std::string line;  // of the first instruction, or of the call that it came through
    double begin = 0;
    std::array<double, kStalls> waits{};  // cycles by reason, short ones too
  };
  struct Warp {
    std::vector<Open> stack;
    const Site* site = nullptr;
    double end = 0;  // of its last event
  };
  struct Run {  // adjoining uses of a MUFU
    double begin = 0, end = 0, cycles = 0;
    uint64_t count = 0;
  };
  struct Operation {
    int tid = 0;
    double start = 0, end = 0, visible = 0;
  };
  struct Phase {
    uint64_t phase = 0;
    int tid = 0;        // who completed it
    double inside = 0;  // a time within one of its slices
    double time = 0;    // when
  };
  struct Barrier {
    int tid = 0;
    double since = 0;
    uint64_t arrivals = 0;
    Phase latest;
  };
  struct Cta {
    int pid = 0;
    std::vector<Warp> warps;
    std::array<Run, 4> mufu;
    std::map<uint64_t, Barrier> barriers;  // by shared address
    std::map<uint64_t, Operation> loads;   // latest TMA operation by mbarrier
    std::vector<Operation> mmas;           // not yet visible, in order
    std::map<uint32_t, Phase> named;       // latest completed phase of bar.sync
    std::map<int, bool> units;             // tids that have a name
  };

  void put(std::string_view event);
  std::string describe(const Place&);
  void name_thread(int pid, int tid, const std::string& name);
  void slice(int pid, int tid, double begin, double end, std::string_view name, const std::string& arguments);
  void flow(const Cta&, const Phase&, int to_tid, double to);
  void move_to(Cta&, int tid, Warp&, const Site*, double time);
  void close_run(Cta&, size_t smsp);
  Cta* find(const Place&);

  std::FILE* file_ = nullptr;
  Limits limits_;
  uint64_t events_ = 0;
  bool truncated_ = false;
  long tail_ = 0;  // where the closing brackets begin
  int launches_ = 0, pids_ = 0;
  uint64_t flows_ = 0;
  double offset_ = 0;  // of this launch in the trace
  std::string kernel_;
  bool modelled_ = true;
  double clock_ghz_ = 1;
  SourceText sources_;
  std::unordered_map<uint64_t, Cta> ctas_;
};

}  // namespace emu::observe
