// A trace that `emu --trace` wrote, read back. Times are SM clock cycles as in the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace timeline {

struct Slice {
  double begin = 0, end = 0;
  std::string name;
  std::string text;                     // source line, of operations and waits
  std::vector<std::string> stack;       // functions, innermost first
  std::string label;                    // of an operation: "mma SS", "load", ...
  int warp = -1;                        // that issued the operation
  uint64_t target = 0;                  // accumulator address, or mbarrier of a TMA load
  int64_t source = -1;                  // offset of the tensor map among the kernel's parameters
  double visible = 0;                   // when an operation's results are there
  uint64_t object = 0, phase = 0;       // of a wait
  std::map<std::string, double> waits;  // of a function: cycles by reason
  double cycles = 0;                    // MUFU: cycles busy within the slice
};

// From the arrival that completed a barrier's phase to a wait that it ended.
struct Flow {
  int from = 0, to = 0;  // tracks
  double arrived = 0, ended = 0;
};

// Track numbers are those of emu::observe::TraceWriter.
inline constexpr int kTensorCore = 1000, kTmaLoads = 1001, kTmaStores = 1002, kTmem = 1010, kMufu = 1020,
                     kBarriers = 2000;
inline constexpr int kSubPartitions = 4;
inline bool is_warp(int track) { return track >= 1 && track < kTensorCore; }

struct Cta {
  int launch = 0;
  uint64_t number = 0, sm = 0;
  std::string kernel;
  double clock_ghz = 0;
  bool modelled = true;
  double begin = 0, end = 0;
  std::map<int, std::vector<Slice>> tracks;  // by track number, in order of time
  std::vector<Flow> flows;                   // in order of time
};

struct Trace {
  std::vector<Cta> ctas;
};

// Throws std::runtime_error saying what is wrong with the file.
Trace read_trace(const std::string& path);
Trace parse_trace(const std::string& json);

}  // namespace timeline
