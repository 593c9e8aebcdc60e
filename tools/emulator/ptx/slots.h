// Packs a function's virtual registers into the slots of a thread's register file.
#pragma once
#include "ptx/flow.h"
#include "ptx/function.h"

namespace emu::ptx {

// First and last instruction at which a register's slot must be its own, inclusive; first > last: never
// named.
struct LiveRange {
  uint32_t first = 0xFFFFFFFFu;
  uint32_t last = 0;
  bool used() const { return first <= last; }
  void cover(uint32_t from, uint32_t to) {
    if (from < first) first = from;
    if (to > last) last = to;
  }
};

// One range per virtual register, an interval of the program text that covers every point where it is live.
//
// Per-thread liveness is enough although lanes diverge. A slot is a row of 32 lane columns, and a fragment
// writes only the columns of its own lanes. Two registers that share a slot are never live at one point of
// one lane's path, so no lane overwrites a value that it needs itself; what other lanes do to their columns
// meanwhile is none of its concern. That holds for registers of one size only, whose columns coincide.
// Instructions that read other lanes' registers (shfl, mma, ldmatrix) name the register themselves, so it is
// live in every lane that takes part.
//
// The exception is a write that comes later than its instruction. tcgen05.ld may deliver its registers at any
// time up to the matching tcgen05.wait::ld (PTX ISA 9.7.16.8.5), so its destinations keep their slots from
// the load to every next wait that can be reached, or to the function's end.
//
// An instruction's sources count as live while its destinations are written, so that two different registers
// of one instruction never overlap.
std::vector<LiveRange> live_ranges(const Function& function, const FlowGraph& graph);

// Sets slot_of_register, num_slots and num_predicates.
void assign_slots(Function& function, const FlowGraph& graph);

}  // namespace emu::ptx
