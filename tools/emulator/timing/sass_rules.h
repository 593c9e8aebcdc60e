// The passes behind estimate_sass, in the order in which they run. Each sees what the ones before it left.
#pragma once

#include <vector>

#include "timing/cost_class.h"
#include "timing/sass_cost.h"
#include "timing/sass_flow.h"

namespace emu::timing {

struct SassContext {
  const SassFlow& flow;
  std::vector<Cost>& costs;
  const SassTarget& target;

  uint32_t size() const { return static_cast<uint32_t>(costs.size()); }
  bool is(uint32_t i, std::string_view head) const { return flow.head(i) == head; }
  bool single_use(int32_t reg) const { return reg >= 0 && flow.uses[static_cast<size_t>(reg)].size() == 1; }
  // The instruction whose only purpose is operand `index` of `i`: it defines it, nothing else reads it, and
  // both stand at the same loop depth. -1 when there is none, or it already costs nothing.
  int32_t feeder(uint32_t i, size_t index) const;
  void free(uint32_t i) { costs[i] = {costs[i].pipe, 0}; }
};

void fold_moves(SassContext& context);        // copies, constants, address spaces, loop-carried copies
void fuse_float(SassContext& context);        // FFMA, FMNMX3, sign modifiers
void fuse_integer(SassContext& context);      // LEA, IMAD, IADD3, LOP3, predicates, halves of 64-bit words
void fold_addresses(SassContext& context);    // [register + displacement]
void hoist_invariants(SassContext& context);  // work that every turn of a loop would repeat
void place_uniform(SassContext& context);     // uniform datapath, R2UR, descriptors, serialised issue
void add_control(SassContext& context);       // branches, convergence, waits, no-operations

}  // namespace emu::timing
