// Control flow of a function: basic blocks and where diverging lanes meet again.
#pragma once
#include <cstdint>
#include <vector>

#include "ptx/function.h"

namespace emu::ptx {

struct Block {
  uint32_t begin = 0;  // instruction indices
  uint32_t end = 0;
  std::vector<uint32_t> successors;  // block indices; none: the function is left here
  bool leaves_normally = false;      // ret or exit, guarded ones included; false for trap
};

struct FlowGraph {
  std::vector<Block> blocks;       // in instruction order
  std::vector<uint32_t> block_of;  // instruction -> block
};

inline constexpr int32_t kFunctionExit = -1;

FlowGraph build_flow_graph(const Function& function);

// Per block, the nearest block that every path from it to the function's end passes through, or
// kFunctionExit. Paths that can only end in a trap are disregarded where another path exists: lanes that take
// one end the launch, so nobody waits for them. A loop without exit counts as if its last block could leave.
std::vector<int32_t> immediate_post_dominators(const FlowGraph& graph);

// Sets Instruction::reconverge of every guarded bra and brx, and is_join at the places they name.
void mark_reconvergence(Function& function, const FlowGraph& graph);

}  // namespace emu::ptx
