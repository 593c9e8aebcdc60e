// Tensor core, TMA and tensor memory take their operands from uniform registers.
#include <algorithm>
#include <set>

#include "timing/sass_rules.h"

namespace emu::timing {

namespace {

// Cycles from setting a predicate, or electing, to an instruction that it guards (nvdisasm's sm_100 tables).
constexpr int kGuardLatency = 13;
constexpr int kBranch = 5;
// Cycles from R2UR to a reader of the uniform register, less the issue of both.
constexpr uint8_t kToUniform = 10;

// Operand words that the block has moved to uniform registers already.
class UniformWords {
 public:
  // True the first time in this block.
  bool take(int32_t reg, int tag = 0) { return seen_.insert({reg, tag}).second; }

 private:
  std::set<std::pair<int32_t, int>> seen_;
};

class Placer {
 public:
  Placer(SassContext& context, const ptx::Block& block, uint32_t number)
      : c_(context), block_(block), convergence_(c_.flow.convergence[number]) {
    for (uint32_t i = block.begin; i < block.end; ++i) {
      stores_ |= c_.is(i, "tcgen05") && c_.flow.has(i, ".st.");
    }
  }

  void run() {
    for (uint32_t i = block_.begin; i < block_.end; ++i) {
      if (c_.is(i, "tcgen05")) {
        tensor(i);
      } else if (c_.is(i, "cp") && c_.flow.has(i, ".bulk.tensor") && !c_.flow.has(i, ".prefetch")) {
        tensor_copy(i);
      }
    }
  }

 private:
  bool is_uniform(int32_t reg) const {
    return reg < 0 || c_.flow.uniform[static_cast<size_t>(reg)] || c_.flow.constant(reg).has_value();
  }
  unsigned words(int32_t reg) const {
    return c_.flow.function.registers[static_cast<size_t>(reg)].reg_class == ptx::RegClass::B64 ? 2 : 1;
  }
  // R2UR for each word of a vector register, once in a block.
  unsigned move(int32_t reg, int tag = 0) {
    if (reg < 0 || is_uniform(reg) || !moved_.take(c_.flow.origin(reg), tag)) return 0;
    return words(reg);
  }
  bool made_here(int32_t reg) const {
    const int32_t d = c_.flow.definition(reg);
    if (d < 0) return false;
    return c_.flow.loop_of[c_.flow.block(static_cast<uint32_t>(d))] ==
           c_.flow.loop_of[c_.flow.block(block_.begin)];
  }
  // The uniform datapath takes an instruction every other cycle; the user of the words issues in between.
  void charge(uint32_t i, unsigned uniform) {
    Cost& cost = c_.costs[i];
    cost.extra_uniform = static_cast<uint8_t>(cost.extra_uniform + uniform);
    if (uniform > 1) cost.stall = static_cast<uint8_t>(cost.stall + uniform - 1);
  }

  void tensor(uint32_t i) {
    if (c_.flow.has(i, "tcgen05.ld.") || c_.flow.has(i, "tcgen05.st.")) {
      tensor_memory(i);
    } else if (c_.flow.has(i, "tcgen05.mma.")) {
      mma(i);
    } else if (c_.flow.has(i, "tcgen05.commit.")) {
      charge(i, address(c_.flow.operand(i, 0)->reg));
      serialise(i);
    }
  }

  // tmem[UR + displacement]. A block of loads moves the address once; where code that part of a warp reaches
  // mixes loads and stores, ptxas moves it for each of them anew.
  void tensor_memory(uint32_t i) {
    const bool store = c_.flow.has(i, "tcgen05.st.");
    const int32_t reg = base_plus(c_.flow, c_.flow.operand(i, store ? 0 : 1)->reg).reg;
    if (is_uniform(reg)) return;
    const bool first = moved_.take(reg, store ? 1 : 0);
    const bool each = stores_ && convergence_ != Convergence::Whole;
    if (!first && !each) return;
    charge(i, 1);
    if (first && !store) c_.costs[i].stall = static_cast<uint8_t>(c_.costs[i].stall + kToUniform);
  }

  // Word for the address of an mbarrier: moved, and displaced by UIADD3 where the displacement is not held.
  unsigned address(int32_t reg) {
    if (reg < 0) return 1;  // a symbol: UIADD3 on the window's base
    const BasePlus split = base_plus(c_.flow, reg);
    if (split.reg == reg || !made_here(reg)) return move(reg);
    return move(split.reg) + 1;
  }

  void mma(uint32_t i) {
    unsigned uniform = 0;
    const auto operands = c_.flow.function.operands_of(c_.flow.function.instructions[i]);
    for (size_t k = 0; k < operands.size(); ++k) {
      const ptx::Operand& o = operands[k];
      if (o.reg < 0) continue;
      if (o.reg_class == ptx::RegClass::Pred) {
        // VOTEU turns a predicate into a uniform one.
        if (!is_uniform(o.reg) && moved_.take(o.reg)) ++uniform;
      } else if (const auto value = c_.flow.constant(o.reg)) {
        // UMOV of the instruction descriptor and of the word beside it.
        if (moved_.take(static_cast<int32_t>(*value), 2)) uniform += 2;
      } else {
        uniform += move(o.reg);
      }
    }
    charge(i, uniform);
    if (!waited_)
      c_.costs[i].stall = static_cast<uint8_t>(c_.costs[i].stall + (uniform > 0 ? kToUniform : 0));
    waited_ = true;
    serialise(i);
  }

  // The copy's operands stand side by side in uniform registers: destination, barrier, coordinates. A value
  // made for one copy only is made in its place.
  void tensor_copy(uint32_t i) {
    unsigned uniform = 0;
    for (const ptx::Operand& o : c_.flow.function.operands_of(c_.flow.function.instructions[i])) {
      if (o.kind == ptx::OperandKind::TensorAddress) {
        if (maps_.take(c_.flow.origin(o.reg))) uniform += 2;  // 64-bit address of the map
        for (const ptx::Operand& x : c_.flow.function.elements_of(o)) {
          const bool placed = x.reg >= 0 && !c_.flow.constant(x.reg) && made_here(x.reg) &&
                              is_uniform(x.reg) && coordinates_.take(x.reg);
          if (!placed) ++uniform;
          if (x.reg >= 0) uniform += move(x.reg);
        }
      } else if (o.kind == ptx::OperandKind::Address) {
        ++uniform;
        if (o.reg >= 0) uniform += move(base_plus(c_.flow, o.reg).reg);
      }
    }
    charge(i, uniform);
    serialise(i);
  }

  // In code that several lanes may reach, an instruction that takes one thread's operands from uniform
  // registers runs once for each of them: elect, issue, leave, while any is left. Nothing overlaps: three
  // predicates are made and waited for in turn.
  void serialise(uint32_t i) {
    if (convergence_ != Convergence::Partial) return;
    Cost& cost = c_.costs[i];
    cost.extra_alu = static_cast<uint8_t>(cost.extra_alu + 4);  // ELECT, 3 PLOP3
    cost.extra_control = static_cast<uint8_t>(cost.extra_control + 1);
    const unsigned total = 3 * kGuardLatency + kBranch;
    cost.stall =
        static_cast<uint8_t>(std::max(0, static_cast<int>(total) - static_cast<int>(cost.issue_slots())));
  }

  SassContext& c_;
  const ptx::Block& block_;
  Convergence convergence_;
  bool stores_ = false;
  bool waited_ = false;  // for the first word of an MMA; the rest come while it is issued
  UniformWords moved_, maps_, coordinates_;
};

// Integer work on warp-wide values goes to the uniform datapath, which adds 64 bits at once.
void retarget(SassContext& c) {
  for (uint32_t i = 0; i < c.size(); ++i) {
    Cost& cost = c.costs[i];
    const bool integer =
        cost.pipe == CostClass::IntAdd || cost.pipe == CostClass::Alu || cost.pipe == CostClass::Imad;
    if (!integer || cost.slots == 0) continue;
    const int32_t reg = c.flow.operand_register(i, 0);
    if (reg < 0 || !c.flow.uniform[static_cast<size_t>(reg)]) continue;
    const bool add64 = (c.is(i, "add") || c.is(i, "sub")) && c.flow.has(i, "64");
    cost = {CostClass::Uniform, add64 ? uint8_t{1} : cost.slots};
    cost.stall = cost.slots;
  }
}

}  // namespace

void place_uniform(SassContext& c) {
  retarget(c);
  for (uint32_t b = 0; b < c.flow.graph.blocks.size(); ++b) Placer(c, c.flow.graph.blocks[b], b).run();
}

}  // namespace emu::timing
