// What the timed mode needs of each instruction: its cost and the registers it reads and writes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/event_queue.h"
#include "timing/cost_class.h"
#include "timing/machine.h"

namespace emu::gpu {

struct Program;

// Pipes with an initiation interval of their own. The first kSmPipes belong to a sub-partition, the rest to
// the SM.
enum class Pipe : uint8_t { None, Fma, Alu, Mufu, Fp64, Uniform, SharedPort, Memory, Count };

struct ClassCost {
  Pipe pipe = Pipe::None;
  Time interval = 1;  // cycles the pipe is taken per issue slot
  Time latency = 4;   // cycles from issue to a dependent issue
  Time hold = 0;      // cycles beyond its slot before the warp issues again
};

using CostTable = std::array<ClassCost, static_cast<size_t>(timing::CostClass::Count)>;
CostTable cost_table(const timing::Machine& machine);

// Cycles that a value needs beyond its latency from one pipe to another.
using ForwardingTable =
    std::array<std::array<Time, static_cast<size_t>(Pipe::Count)>, static_cast<size_t>(Pipe::Count)>;
ForwardingTable forwarding_table(const timing::Machine& machine);

// Slots and predicates of one instruction, as ranges of IssueInfo::pool.
struct IssueRange {
  uint32_t first = 0;
  uint8_t reads = 0, writes = 0, predicate_reads = 0, predicate_writes = 0;
  int32_t guard = -1;  // predicate that guards it; also among the reads
  timing::Cost cost;
};

struct IssueInfo {
  std::vector<IssueRange> instructions;
  std::vector<uint32_t> pool;
};

// Fills in what each instruction of the program costs and touches; called once per program.
IssueInfo issue_info(const Program& program);

}  // namespace emu::gpu
