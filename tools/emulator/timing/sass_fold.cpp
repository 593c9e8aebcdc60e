// Copies, constants and arithmetic that ptxas folds into a neighbour.
#include <algorithm>

#include "timing/sass_rules.h"

namespace emu::timing {

int32_t SassContext::feeder(uint32_t i, size_t index) const {
  const int32_t reg = flow.operand_register(i, index);
  const int32_t d = flow.definition(reg);
  if (d < 0 || !single_use(reg)) return -1;
  const auto at = static_cast<uint32_t>(d);
  if (flow.function.instructions[at].guard >= 0 || costs[at].slots == 0) return -1;
  return flow.loop_of[flow.block(at)] == flow.loop_of[flow.block(i)] ? d : -1;
}

namespace {

// A copy into a register that several instructions define is the compiler's own loop variable. It vanishes
// when both sides can share a register: nothing that needs the copy's source still reads the old value.
bool shares_register(const SassContext& c, uint32_t copy) {
  const int32_t target = c.flow.operand_register(copy, 0);
  const int32_t source = c.flow.operand_register(copy, 1);
  const int32_t d = c.flow.definition(source);
  if (source < 0 || d < 0) return false;
  const auto made = static_cast<uint32_t>(d);
  if (c.is(made, "mov")) return false;  // a copy of another loop variable
  const auto& uses = c.flow.uses[static_cast<size_t>(source)];
  if (c.flow.loop_of[c.flow.block(made)] != c.flow.loop_of[c.flow.block(copy)]) return false;
  if (std::any_of(uses.begin(), uses.end(), [&](uint32_t u) { return u > copy; })) return false;
  for (uint32_t reader : c.flow.uses[static_cast<size_t>(target)]) {
    if (reader <= made || reader >= copy) continue;
    // A reader between the two can be moved before the source is made unless it needs that source.
    if (std::find(uses.begin(), uses.end(), reader) != uses.end()) return false;
  }
  return true;
}

void fold_move(SassContext& c, uint32_t i) {
  const int32_t target = c.flow.operand_register(i, 0);
  if (target < 0 || c.flow.defs[static_cast<size_t>(target)].size() == 1 || shares_register(c, i)) {
    c.free(i);
    return;
  }
  c.costs[i] = {CostClass::IntAdd, 1};  // ptxas alternates MOV and IMAD.MOV to use both pipes
}

bool reads_special(const SassContext& c, uint32_t i) {
  const auto operands = c.flow.function.operands_of(c.flow.function.instructions[i]);
  return operands.size() > 1 && operands[1].kind == ptx::OperandKind::Special;
}

}  // namespace

void fold_moves(SassContext& c) {
  for (uint32_t i = 0; i < c.size(); ++i) {
    if (c.is(i, "mov")) {
      if (!reads_special(c, i)) fold_move(c, i);
    } else if (c.costs[i].pipe == CostClass::Free || c.costs[i].pipe == CostClass::Param) {
      c.free(i);
    }
  }
}

namespace {

bool is_f32(const SassContext& c, uint32_t i) { return c.flow.has(i, ".f32") && !c.flow.has(i, ".f32x2"); }

bool is_float_sum(const SassContext& c, uint32_t i) {
  return (c.is(i, "add") || c.is(i, "sub")) && (is_f32(c, i) || c.flow.has(i, ".f32x2")) &&
         !c.flow.has(i, ".rn") && !c.flow.has(i, ".sat");
}

// ptxas contracts a product and a sum that name no rounding of their own. It repeats a product that feeds
// several sums in each of them, and then needs no product by itself.
void contract(SassContext& c, uint32_t product, std::vector<bool>& fused) {
  const bool packed = c.flow.has(product, ".f32x2");
  if (!c.is(product, "mul") || !(packed || is_f32(c, product))) return;
  if (c.flow.has(product, ".rn") || c.flow.has(product, ".sat") || c.costs[product].slots == 0) return;
  if (c.flow.function.instructions[product].guard >= 0) return;
  const int32_t reg = c.flow.operand_register(product, 0);
  if (c.flow.definition(reg) < 0) return;
  const auto& readers = c.flow.uses[static_cast<size_t>(reg)];
  const int32_t loop = c.flow.loop_of[c.flow.block(product)];
  const bool all = !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](uint32_t r) {
    return is_float_sum(c, r) && c.flow.has(r, ".f32x2") == packed && !fused[r] &&
           c.flow.loop_of[c.flow.block(r)] == loop;
  });
  if (!all) return;
  c.free(product);
  for (uint32_t r : readers) fused[r] = true;
}

// min(min(a, b), c) is one FMNMX3; the inner one must not hold three inputs already.
void merge_minmax(SassContext& c, uint32_t i, std::vector<bool>& merged) {
  if (!c.target.three_input_minmax || !is_f32(c, i) || !(c.is(i, "max") || c.is(i, "min"))) return;
  for (size_t index : {1u, 2u}) {
    const int32_t d = c.feeder(i, index);
    if (d < 0) continue;
    const auto inner = static_cast<uint32_t>(d);
    if (merged[inner] || c.flow.head(inner) != c.flow.head(i) || !is_f32(c, inner)) continue;
    c.free(inner);
    merged[i] = true;
    return;
  }
}

}  // namespace

void fuse_float(SassContext& c) {
  std::vector<bool> merged(c.size(), false), fused(c.size(), false);
  for (uint32_t i = 0; i < c.size(); ++i) {
    if ((c.is(i, "neg") || c.is(i, "abs")) && is_f32(c, i)) {
      c.free(i);  // operand modifiers of the reader
      continue;
    }
    contract(c, i, fused);
    merge_minmax(c, i, merged);
  }
}

namespace {

bool is_logic(const SassContext& c, uint32_t i) {
  return (c.is(i, "and") || c.is(i, "or") || c.is(i, "xor") || c.is(i, "not")) && !c.flow.has(i, ".pred");
}

bool is_word(const SassContext& c, uint32_t i) { return c.flow.has(i, "32") && !c.flow.has(i, ".wide"); }

// shl + add -> LEA or IMAD, mul + add -> IMAD, add + add -> IADD3, logic + logic -> LOP3.
void fuse_pair(SassContext& c, uint32_t i, std::vector<bool>& merged) {
  const bool sum = (c.is(i, "add") || c.is(i, "sub")) && is_word(c, i) && !c.flow.has(i, ".f");
  const bool logic = is_logic(c, i) && is_word(c, i);
  if (!sum && !logic) return;
  for (size_t index : {1u, 2u}) {
    const int32_t d = c.feeder(i, index);
    if (d < 0) continue;
    const auto inner = static_cast<uint32_t>(d);
    if (!is_word(c, inner) || c.flow.has(inner, ".f") || merged[inner]) continue;
    const bool product = c.is(inner, "shl") || (c.is(inner, "mul") && c.flow.has(inner, ".lo"));
    const bool inner_sum = c.is(inner, "add") || c.is(inner, "sub");
    if (sum ? product || inner_sum : is_logic(c, inner)) {
      if (c.is(inner, "mul")) c.costs[i] = c.costs[inner];
      c.free(inner);
      merged[i] = true;
      return;
    }
  }
}

// selp of 1 and 0 that only setp reads back: the predicate itself.
bool only_tested(const SassContext& c, int32_t reg) {
  const auto& uses = c.flow.uses[static_cast<size_t>(reg)];
  return std::all_of(uses.begin(), uses.end(), [&](uint32_t u) {
    return c.is(u, "setp") && (c.flow.has(u, ".eq") || c.flow.has(u, ".ne")) &&
           c.flow.constant(*c.flow.operand(u, 2)).has_value();
  });
}

void fold_predicates(SassContext& c, uint32_t i) {
  if (c.is(i, "selp")) {
    const int32_t reg = c.flow.operand_register(i, 0);
    if (reg < 0 || !c.flow.constant(*c.flow.operand(i, 1)) || !c.flow.constant(*c.flow.operand(i, 2))) return;
    if (c.flow.constant(reg)) c.free(i);
    if (!only_tested(c, reg)) return;
    c.free(i);
    for (uint32_t u : c.flow.uses[static_cast<size_t>(reg)]) c.free(u);
  } else if (c.is(i, "setp")) {
    const int32_t reg = c.flow.operand_register(i, 0);
    if (reg >= 0 && c.flow.constant(reg)) c.free(i);
  } else if ((c.is(i, "not") || c.is(i, "and")) && c.flow.has(i, ".pred")) {
    // A guard takes the negation; setp and LOP3 combine with a predicate on their way.
    const bool feeds = c.is(i, "not") || c.feeder(i, 1) >= 0 || c.feeder(i, 2) >= 0;
    if (feeds) c.free(i);
  }
}

// 64-bit logic with a constant works on halves; a half with an empty constant is passed on, and one that
// becomes constant is a move.
void split_halves(SassContext& c, uint32_t i) {
  if (!is_logic(c, i) || !c.flow.has(i, "64")) return;
  unsigned halves = 2;
  const ptx::Operand* right = c.flow.operand(i, 2);
  const auto mask = right ? c.flow.constant(*right) : std::nullopt;
  if (mask && !c.is(i, "and")) {
    const auto bits = static_cast<uint64_t>(*mask);
    if (static_cast<uint32_t>(bits) == 0) --halves;
    if (bits >> 32 == 0) --halves;
  }
  c.costs[i].slots = static_cast<uint8_t>(halves);
}

}  // namespace

void fuse_integer(SassContext& c) {
  std::vector<bool> merged(c.size(), false);
  for (uint32_t i = 0; i < c.size(); ++i) fold_predicates(c, i);
  for (uint32_t i = 0; i < c.size(); ++i) {
    if (c.costs[i].slots == 0) continue;
    fuse_pair(c, i, merged);
    split_halves(c, i);
  }
}

namespace {

// Instructions whose SASS takes [register + constant].
bool takes_displacement(const SassContext& c, uint32_t i) {
  return c.is(i, "ld") || c.is(i, "st") || c.is(i, "atom") || c.is(i, "red") || c.is(i, "mbarrier") ||
         c.is(i, "ldmatrix") || c.is(i, "stmatrix") ||
         (c.is(i, "tcgen05") && (c.flow.has(i, ".ld.") || c.flow.has(i, ".st.")));
}

// Instructions that place_uniform charges for making their operands' words.
bool places_operands(const SassContext& c, uint32_t i) {
  return (c.is(i, "cp") && c.flow.has(i, ".bulk")) || (c.is(i, "tcgen05") && c.flow.has(i, ".commit"));
}

bool is_address(const SassContext& c, uint32_t i, int32_t reg) {
  for (const ptx::Operand& o : c.flow.function.operands_of(c.flow.function.instructions[i])) {
    const bool address = o.kind == ptx::OperandKind::Address || o.kind == ptx::OperandKind::TensorAddress;
    if (o.reg == reg && !address) return false;
    for (const ptx::Operand& element : c.flow.function.elements_of(o)) {
      if (element.reg == reg) return false;
    }
  }
  return true;
}

}  // namespace

void fold_addresses(SassContext& c) {
  for (uint32_t i = c.size(); i-- > 0;) {
    if (c.costs[i].slots == 0 || c.flow.function.instructions[i].guard >= 0) continue;
    const int32_t reg = c.flow.operand_register(i, 0);
    if (reg < 0 || c.flow.definition(reg) < 0 || base_plus(c.flow, reg).reg == reg) continue;
    const auto& uses = c.flow.uses[static_cast<size_t>(reg)];
    const bool folds = !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](uint32_t u) {
      if (takes_displacement(c, u) || places_operands(c, u)) return is_address(c, u, reg);
      // An add that folds itself takes this one along.
      const int32_t next = c.flow.operand_register(u, 0);
      return c.costs[u].slots == 0 && c.is(u, "add") && next >= 0 && base_plus(c.flow, next).reg != next;
    });
    if (folds) c.free(i);
  }
}

void hoist_invariants(SassContext& c) {
  for (uint32_t i = 0; i < c.size(); ++i) {
    const CostClass pipe = c.costs[i].pipe;
    const bool pure = pipe == CostClass::Fma || pipe == CostClass::FmaPacked || pipe == CostClass::Imad ||
                      pipe == CostClass::ImadWide || pipe == CostClass::IntAdd || pipe == CostClass::Alu;
    if (pure && c.costs[i].slots > 0 && c.flow.invariant(i)) c.free(i);
  }
}

}  // namespace emu::timing
