// Branches, waits and what keeps a warp together.
#include <algorithm>
#include <set>

#include "timing/sass_rules.h"

namespace emu::timing {

namespace {

constexpr uint32_t kPredicated = 4;    // instructions that ptxas guards rather than jumps over
constexpr uint8_t kConvergeStall = 4;  // WARPSYNC and BRA.DIV hold the warp for 5 cycles

void add_slots(uint8_t& field, unsigned count) { field = static_cast<uint8_t>(field + count); }

bool in_spin(const SassContext& c, uint32_t block) {
  return std::any_of(c.flow.loops.begin(), c.flow.loops.end(), [&](const SassLoop& loop) {
    return loop.spin && std::binary_search(loop.blocks.begin(), loop.blocks.end(), block);
  });
}

// The block that a conditional branch skips, where it is short and plain enough to be guarded instead.
bool is_predicated(const SassContext& c, uint32_t branch) {
  const ptx::Instruction& instruction = c.flow.function.instructions[branch];
  const uint32_t b = c.flow.block(branch);
  if (instruction.target < 0 || b + 1 >= c.flow.graph.blocks.size()) return false;
  const ptx::Block& skipped = c.flow.graph.blocks[b + 1];
  if (static_cast<uint32_t>(instruction.target) != skipped.end) return false;
  unsigned slots = 0;
  for (uint32_t i = skipped.begin; i < skipped.end; ++i) {
    slots += c.costs[i].slots;
    if (c.is(i, "bra") || c.is(i, "bar") || c.is(i, "cp") || c.is(i, "call") || c.costs[i].extra_control > 0)
      return false;
    if (c.is(i, "tcgen05")) return false;
  }
  return slots <= kPredicated;
}

class Controller {
 public:
  explicit Controller(SassContext& context) : c_(context) {}

  void run() {
    for (uint32_t b = 0; b < c_.flow.graph.blocks.size(); ++b) block(b);
  }

 private:
  void block(uint32_t b) {
    const ptx::Block& range = c_.flow.graph.blocks[b];
    convergence_ = c_.flow.convergence[b];
    spin_ = in_spin(c_, b);
    together_ = false;
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const std::string_view head = c_.flow.head(i);
      if (head == "bra") {
        branch(i, range);
      } else if (head == "mbarrier") {
        barrier(i);
      } else if (head == "bar" && c_.flow.has(i, ".warp.sync")) {
        warp_sync(i);
      } else if (head == "tcgen05") {
        tensor(i);
      } else if (head == "fence" && c_.flow.has(i, ".proxy.async")) {
        add_slots(c_.costs[i].extra_control, 1);  // MEMBAR and FENCE.VIEW.ASYNC
      }
    }
  }

  void branch(uint32_t i, const ptx::Block& range) {
    const ptx::Instruction& instruction = c_.flow.function.instructions[i];
    if (instruction.guard < 0) {
      // A jump that a conditional branch jumps over goes away when the branch is turned round.
      const bool alone =
          range.begin == i && i > 0 && c_.is(i - 1, "bra") && c_.flow.function.instructions[i - 1].guard >= 0;
      if (alone) c_.free(i);
      return;
    }
    if (spin_) return;
    if (is_predicated(c_, i)) {
      c_.free(i);
      return;
    }
    const bool forward = instruction.target > static_cast<int32_t>(i);
    const bool splits = !c_.flow.uniform[static_cast<size_t>(instruction.guard)];
    if (forward && splits && convergence_ != Convergence::Elected) {
      add_slots(c_.costs[i].extra_control, 2);  // BSSY before, BSYNC at the join
    }
  }

  void barrier(uint32_t i) {
    if (c_.flow.has(i, ".expect_tx")) {
      const ptx::Operand* bytes = c_.flow.operand(i, 2);
      if (bytes && c_.flow.constant(*bytes)) add_slots(c_.costs[i].extra_fma, 1);  // the count in a register
      return;
    }
    if (!c_.flow.has(i, "_wait")) return;
    // The parity is wanted in bit 31.
    const int32_t parity = c_.flow.origin(c_.flow.operand_register(i, 2));
    const int32_t loop = c_.flow.loop_of[c_.flow.block(i)];
    if (parities_.insert({loop, parity}).second) add_slots(c_.costs[i].extra_alu, 1);
    if (!spin_) return;
    if (convergence_ == Convergence::Partial) add_slots(c_.costs[i].extra_control, 3);  // BSSY, YIELD, BSYNC
    if (convergence_ == Convergence::Elected && yields_.insert(loop).second) {
      add_slots(c_.costs[i].extra_control, 1);
    }
  }

  void warp_sync(uint32_t i) {
    if (convergence_ == Convergence::Whole || together_) return;  // a no-operation
    add_slots(c_.costs[i].extra_control, 2);                      // UMOV, BRA.DIV and a no-operation
    c_.costs[i].stall = kConvergeStall;
  }

  void tensor(uint32_t i) {
    const bool aligned = c_.flow.has(i, ".aligned") && !c_.flow.has(i, "wait::ld");
    if (!aligned || convergence_ != Convergence::Partial || together_) return;
    add_slots(c_.costs[i].extra_control, 1);  // WARPSYNC.ALL
    add_slots(c_.costs[i].stall, kConvergeStall);
    together_ = true;
  }

  SassContext& c_;
  Convergence convergence_ = Convergence::Whole;
  bool spin_ = false;
  bool together_ = false;  // the warp is known to be whole since this block's WARPSYNC
  std::set<std::pair<int32_t, int32_t>> parities_;
  std::set<int32_t> yields_;
};

}  // namespace

void add_control(SassContext& c) { Controller(c).run(); }

}  // namespace emu::timing
