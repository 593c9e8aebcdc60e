// What ptxas knows of a function before it chooses instructions: loops, single definitions, constants, which
// values are the same in a whole warp, and which code only part of a warp reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/dataflow.h"
#include "ptx/flow.h"
#include "ptx/function.h"

namespace emu::timing {

// A natural loop, by its header. A spin loop only polls an mbarrier.
struct SassLoop {
  uint32_t header = 0;           // block
  std::vector<uint32_t> blocks;  // ascending
  bool spin = false;
};

// Which lanes of a warp can be in a block together, as far as the compiler can prove.
enum class Convergence : uint8_t {
  Whole,    // the whole warp
  Partial,  // lanes may have gone elsewhere
  Elected   // one lane: the block is reached by a branch straight on elect.sync's predicate
};

class SassFlow {
 public:
  explicit SassFlow(const ptx::Function& function);

  const ptx::Function& function;
  ptx::FlowGraph graph;
  std::vector<int32_t> dominator;           // immediate dominator of each block, -1 for the entry
  std::vector<int32_t> post_dominator;      // ptx::kFunctionExit where none
  std::vector<SassLoop> loops;              // outer before inner
  std::vector<int32_t> loop_of;             // block -> innermost loop that is no spin loop, -1
  std::vector<Convergence> convergence;     // per block
  std::vector<std::vector<uint32_t>> defs;  // register -> instructions, ascending
  std::vector<std::vector<uint32_t>> uses;  // register -> instructions, once for each operand
  std::vector<bool> uniform;                // register holds one value for the whole warp, provably

  uint32_t block(uint32_t instruction) const { return graph.block_of[instruction]; }
  bool dominates(uint32_t a, uint32_t b) const;  // blocks
  // The one instruction that defines a register, following nothing; -1 for none or several.
  int32_t definition(int32_t reg) const;
  // The register that a chain of copies starts from: mov, cvta, widening and narrowing cvt.
  int32_t origin(int32_t reg) const;
  // The value of an integer or predicate register or immediate operand, where it is a constant.
  std::optional<int64_t> constant(const ptx::Operand& operand) const;
  std::optional<int64_t> constant(int32_t reg) const;
  // No operand changes while the innermost loop around the instruction runs, and it has one destination.
  bool invariant(uint32_t instruction) const;
  // +1: the predicate is true only in a lane that elect.sync chose; -1: false only there; 0: neither.
  int elected(int32_t predicate) const;

  std::string_view head(uint32_t instruction) const;             // opcode up to its first dot
  bool has(uint32_t instruction, std::string_view token) const;  // ".f32", "wait::ld": part of the opcode
  const ptx::Operand* operand(uint32_t instruction, size_t index) const;  // nullptr when absent
  int32_t operand_register(uint32_t instruction, size_t index) const;     // -1 when no plain register

 private:
  void find_definitions();
  void find_dominators();
  void find_loops();
  void find_uniform();
  void find_convergence();
  bool pure(uint32_t instruction) const;
  bool warp_wide(uint32_t instruction) const;
  bool on_uniform_path(uint32_t block) const;
  bool only_polls(const SassLoop& loop) const;
  std::optional<int64_t> constant(int32_t reg, int depth) const;
  bool find_invariant(uint32_t instruction) const;
  mutable std::vector<bool> invariant_;  // by instruction, filled at the first question
};

// First and last operand of an add, sub or or with a constant: register and displacement.
struct BasePlus {
  int32_t reg = -1;
  int64_t displacement = 0;
};
// Where a register's value is another register's plus a constant, through any number of copies and adds.
BasePlus base_plus(const SassFlow& flow, int32_t reg);

}  // namespace emu::timing
