// The order in which ptxas issues a function: nvcc writes PTX in source order, one element after the other,
// and ptxas spreads the work of a basic block over the latencies.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/function.h"
#include "timing/cost_class.h"
#include "timing/machine.h"

namespace emu::timing {

// For each position of the function, the instruction that ptxas would issue there: a permutation within each
// basic block that keeps every dependence, the order of everything that is not pure arithmetic, and the last
// instruction in its place. `costs` are those of estimate_sass; `machine` supplies latencies and intervals.
std::vector<uint32_t> schedule(const ptx::Function& function, const std::vector<Cost>& costs,
                               const Machine& machine);

// Cycles from the first to the last issue of each basic block, were one warp alone on its sub-partition and
// every wait over: in the order of schedule(), or in that of the PTX.
std::vector<double> block_cycles(const ptx::Function& function, const std::vector<Cost>& costs,
                                 const Machine& machine, bool scheduled);

// The function with its instructions in that order and register slots assigned anew. Branch targets stay:
// blocks begin where they began.
ptx::Function reordered(const ptx::Function& function, const std::vector<uint32_t>& order);

}  // namespace emu::timing
