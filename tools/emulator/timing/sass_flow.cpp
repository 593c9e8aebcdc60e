#include "timing/sass_flow.h"

#include <algorithm>
#include <array>

namespace emu::timing {

namespace {

constexpr int kDeepest = 12;  // links of a definition chain that are followed

bool contains(const std::vector<uint32_t>& sorted, uint32_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

SassFlow::SassFlow(const ptx::Function& f) : function(f), graph(ptx::build_flow_graph(f)) {
  post_dominator = ptx::immediate_post_dominators(graph);
  find_definitions();
  find_dominators();
  find_loops();
  convergence.assign(graph.blocks.size(), Convergence::Whole);
  // Whether a value is warp-wide depends on who reaches its definition, and the other way round; both only
  // get worse, so this settles.
  uniform.assign(function.registers.size(), true);
  for (int round = 0; round < 8; ++round) {
    const auto before = convergence;
    find_uniform();
    find_convergence();
    if (before == convergence && round > 0) break;
  }
}

std::string_view SassFlow::head(uint32_t i) const {
  const std::string_view opcode = function.instructions[i].opcode;
  return opcode.substr(0, opcode.find('.'));
}

bool SassFlow::has(uint32_t i, std::string_view token) const {
  return function.instructions[i].opcode.find(token) != std::string_view::npos;
}

const ptx::Operand* SassFlow::operand(uint32_t i, size_t index) const {
  const auto operands = function.operands_of(function.instructions[i]);
  return index < operands.size() ? &operands[index] : nullptr;
}

int32_t SassFlow::operand_register(uint32_t i, size_t index) const {
  const ptx::Operand* value = operand(i, index);
  return value && value->kind == ptx::OperandKind::Register ? value->reg : -1;
}

void SassFlow::find_definitions() {
  defs.resize(function.registers.size());
  uses.resize(function.registers.size());
  for (uint32_t i = 0; i < function.instructions.size(); ++i) {
    ptx::for_each_register(function, function.instructions[i], [&](int32_t reg, ptx::Access access) {
      const auto r = static_cast<size_t>(reg);
      if (access != ptx::Access::Write) uses[r].push_back(i);
      if (access != ptx::Access::Read && (defs[r].empty() || defs[r].back() != i)) defs[r].push_back(i);
    });
  }
}

void SassFlow::find_dominators() {
  const size_t count = graph.blocks.size();
  std::vector<std::vector<uint32_t>> predecessors(count);
  std::vector<uint32_t> order;
  std::vector<uint8_t> seen(count, 0);
  std::vector<std::pair<uint32_t, size_t>> stack{{0, 0}};
  seen[0] = 1;
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    if (next == graph.blocks[b].successors.size()) {
      order.push_back(b);
      stack.pop_back();
      continue;
    }
    const uint32_t s = graph.blocks[b].successors[next++];
    if (!seen[s]) {
      seen[s] = 1;
      stack.push_back({s, 0});
    }
  }
  for (uint32_t b = 0; b < count; ++b) {
    for (uint32_t s : graph.blocks[b].successors) predecessors[s].push_back(b);
  }
  std::vector<int32_t> rank(count, -1);
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int32_t>(i);
  dominator.assign(count, -1);
  dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == 0) continue;
      int32_t meet = -1;
      for (uint32_t p : predecessors[*it]) {
        if (dominator[p] < 0) continue;
        auto q = static_cast<int32_t>(p);
        if (meet < 0) {
          meet = q;
          continue;
        }
        while (meet != q) {
          int32_t& lower = rank[static_cast<size_t>(meet)] < rank[static_cast<size_t>(q)] ? meet : q;
          lower = dominator[static_cast<size_t>(lower)];
        }
      }
      if (meet != dominator[*it]) {
        dominator[*it] = meet;
        changed = true;
      }
    }
  }
  dominator[0] = -1;
}

bool SassFlow::dominates(uint32_t a, uint32_t b) const {
  auto at = static_cast<int32_t>(b);
  while (at >= 0 && at != static_cast<int32_t>(a)) at = dominator[static_cast<size_t>(at)];
  return at >= 0;
}

bool SassFlow::only_polls(const SassLoop& loop) const {
  bool polls = false;
  for (uint32_t b : loop.blocks) {
    for (uint32_t i = graph.blocks[b].begin; i < graph.blocks[b].end; ++i) {
      const std::string_view name = head(i);
      if (name == "mbarrier" && (has(i, ".try_wait") || has(i, ".test_wait"))) {
        polls = true;
      } else if (name != "selp" && name != "setp" && name != "bra" && name != "mov" && name != "add" &&
                 name != "nanosleep" && name != "and") {
        return false;
      }
    }
  }
  return polls;
}

void SassFlow::find_loops() {
  const size_t count = graph.blocks.size();
  std::vector<std::vector<uint32_t>> predecessors(count);
  for (uint32_t b = 0; b < count; ++b) {
    for (uint32_t s : graph.blocks[b].successors) predecessors[s].push_back(b);
  }
  for (uint32_t h = 0; h < count; ++h) {
    std::vector<uint32_t> body{h};
    std::vector<uint32_t> work;
    for (uint32_t latch : predecessors[h]) {
      if (dominates(h, latch)) work.push_back(latch);
    }
    if (work.empty()) continue;
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      if (std::find(body.begin(), body.end(), b) != body.end()) continue;
      body.push_back(b);
      for (uint32_t p : predecessors[b]) work.push_back(p);
    }
    std::sort(body.begin(), body.end());
    loops.push_back({h, std::move(body), false});
    loops.back().spin = only_polls(loops.back());
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const SassLoop& a, const SassLoop& b) { return a.blocks.size() > b.blocks.size(); });
  loop_of.assign(count, -1);
  for (size_t l = 0; l < loops.size(); ++l) {
    if (loops[l].spin) continue;
    for (uint32_t b : loops[l].blocks) loop_of[b] = static_cast<int32_t>(l);
  }
}

int32_t SassFlow::definition(int32_t reg) const {
  if (reg < 0) return -1;
  const auto& list = defs[static_cast<size_t>(reg)];
  return list.size() == 1 ? static_cast<int32_t>(list[0]) : -1;
}

int32_t SassFlow::origin(int32_t reg) const {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const int32_t d = definition(reg);
    if (d < 0) return reg;
    const auto i = static_cast<uint32_t>(d);
    const std::string_view name = head(i);
    const bool copies =
        name == "mov" || name == "cvta" || (name == "cvt" && (has(i, ".u64.u32") || has(i, ".u32.u64")));
    const int32_t source = operand_register(i, 1);
    if (!copies || source < 0 || function.instructions[i].guard >= 0) return reg;
    reg = source;
  }
  return reg;
}

std::optional<int64_t> SassFlow::constant(const ptx::Operand& value) const {
  if (value.kind == ptx::OperandKind::ImmediateInt) return value.immediate;
  if (value.kind == ptx::OperandKind::Register) return constant(value.reg);
  return std::nullopt;
}

std::optional<int64_t> SassFlow::constant(int32_t reg) const { return constant(reg, 0); }

std::optional<int64_t> SassFlow::constant(int32_t reg, int depth) const {
  const int32_t d = definition(reg);
  if (d < 0 || depth > kDeepest) return std::nullopt;
  const auto i = static_cast<uint32_t>(d);
  const auto value = [&](size_t index) -> std::optional<int64_t> {
    const ptx::Operand* o = operand(i, index);
    if (!o) return std::nullopt;
    if (o->kind == ptx::OperandKind::ImmediateInt) return o->immediate;
    if (o->kind == ptx::OperandKind::Register) return constant(o->reg, depth + 1);
    return std::nullopt;
  };
  if (function.instructions[i].guard >= 0) return std::nullopt;
  const std::string_view name = head(i);
  if (name == "mov") return value(1);
  if (name == "setp") {
    const auto a = value(1), b = value(2);
    if (!a || !b) return std::nullopt;
    if (has(i, ".ne")) return *a != *b;
    if (has(i, ".eq")) return *a == *b;
    return std::nullopt;
  }
  if (name == "selp") {
    const auto p = value(3);
    return p ? (*p ? value(1) : value(2)) : std::nullopt;
  }
  return std::nullopt;
}

// The result depends on the operands alone.
bool SassFlow::pure(uint32_t i) const {
  static constexpr std::array<std::string_view, 27> kPure = {
      "mov", "cvta", "cvt", "add", "sub",  "mul",  "mad", "fma", "shl", "shr", "and", "or",  "xor", "not",
      "neg", "abs",  "min", "max", "setp", "selp", "bfe", "bfi", "shf", "div", "rem", "ex2", "lop3"};
  const std::string_view name = head(i);
  if (name == "ld") return has(i, ".param") || has(i, ".const");
  return std::find(kPure.begin(), kPure.end(), name) != kPure.end();
}

// An instruction's sources are made before it, so in ascending order every answer it needs is there already.
bool SassFlow::invariant(uint32_t i) const {
  if (invariant_.empty()) {
    invariant_.reserve(function.instructions.size());
    for (uint32_t k = 0; k < function.instructions.size(); ++k) invariant_.push_back(find_invariant(k));
  }
  return invariant_[i];
}

bool SassFlow::find_invariant(uint32_t i) const {
  const int32_t loop = loop_of[block(i)];
  if (loop < 0 || !pure(i)) return false;
  const auto& body = loops[static_cast<size_t>(loop)].blocks;
  bool result = function.instructions[i].guard < 0;
  ptx::for_each_register(function, function.instructions[i], [&](int32_t reg, ptx::Access access) {
    const auto& list = defs[static_cast<size_t>(reg)];
    if (access != ptx::Access::Read) {
      result &= list.size() == 1;
      return;
    }
    for (uint32_t d : list) {
      if (!contains(body, block(d))) continue;
      // A copy of a constant, or what is invariant itself, does not count as made in the loop.
      result = result && list.size() == 1 && d < i && (invariant_[d] || constant(reg).has_value());
    }
  });
  return result;
}

int SassFlow::elected(int32_t predicate) const {
  int sign = 1;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const int32_t d = definition(predicate);
    if (d < 0) return 0;
    const auto i = static_cast<uint32_t>(d);
    const std::string_view name = head(i);
    if (name == "elect") return sign;
    if (name == "not") {
      sign = -sign;
      predicate = operand_register(i, 1);
    } else if (name == "setp" && (has(i, ".eq") || has(i, ".ne"))) {
      // setp on the 1 or 0 that selp made of a predicate gives that predicate back.
      const auto compared = constant(*operand(i, 2));
      const int32_t s = definition(operand_register(i, 1));
      if (!compared || s < 0 || head(static_cast<uint32_t>(s)) != "selp") return 0;
      const auto yes = constant(*operand(static_cast<uint32_t>(s), 1));
      const auto no = constant(*operand(static_cast<uint32_t>(s), 2));
      if (!yes || !no || *yes == *no || (*compared != *yes && *compared != *no)) return 0;
      if ((*compared == *yes) != has(i, ".eq")) sign = -sign;
      predicate = operand_register(static_cast<uint32_t>(s), 3);
    } else {
      return 0;
    }
  }
  return 0;
}

bool SassFlow::warp_wide(uint32_t i) const {
  const std::string_view name = head(i);
  const bool parameter = name == "ld";
  if (!pure(i)) return false;
  if (has(i, ".f32") || has(i, ".f64") || has(i, ".f16") || has(i, ".bf16"))
    return name == "mov" || parameter;
  for (const ptx::Operand& o : function.operands_of(function.instructions[i])) {
    if (o.kind != ptx::OperandKind::Special) continue;
    using S = ptx::SpecialRegister;
    if (o.special != S::Ctaid && o.special != S::Nctaid && o.special != S::Ntid) return false;
  }
  return true;
}

// ptxas keeps to vector registers in the code of a warp role, but not where a warp of uniform code skips a
// few instructions for some of its lanes.
bool SassFlow::on_uniform_path(uint32_t b) const {
  if (convergence[b] == Convergence::Whole) return true;
  const int32_t loop = loop_of[b];
  return loop >= 0 && convergence[loops[static_cast<size_t>(loop)].header] == Convergence::Whole;
}

void SassFlow::find_uniform() {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < function.instructions.size(); ++i) {
      bool wide = warp_wide(i);
      const bool whole = on_uniform_path(block(i));
      ptx::for_each_register(function, function.instructions[i], [&](int32_t reg, ptx::Access access) {
        if (access != ptx::Access::Write) wide &= uniform[static_cast<size_t>(reg)];
      });
      ptx::for_each_register(function, function.instructions[i], [&](int32_t reg, ptx::Access access) {
        if (access == ptx::Access::Read) return;
        const auto r = static_cast<size_t>(reg);
        if (uniform[r] && !(wide && (whole || constant(reg)))) {
          uniform[r] = false;
          changed = true;
        }
      });
    }
  }
}

void SassFlow::find_convergence() {
  std::vector<Convergence> result(graph.blocks.size(), Convergence::Whole);
  for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
    const uint32_t last = graph.blocks[b].end - 1;
    const ptx::Instruction& branch = function.instructions[last];
    if (branch.guard < 0 || graph.blocks[b].successors.size() < 2) continue;
    if (uniform[static_cast<size_t>(branch.guard)]) continue;
    const int32_t join = post_dominator[b];
    std::vector<uint32_t> work(graph.blocks[b].successors), region;
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      if (static_cast<int32_t>(at) == join || std::find(region.begin(), region.end(), at) != region.end())
        continue;
      region.push_back(at);
      for (uint32_t s : graph.blocks[at].successors) work.push_back(s);
    }
    // A poll that fails sends its lanes back to the same poll: nobody else runs meanwhile.
    const bool polls = std::any_of(loops.begin(), loops.end(), [&](const SassLoop& loop) {
      return loop.spin && contains(loop.blocks, b);
    });
    for (uint32_t at : region) {
      if (!polls && result[at] == Convergence::Whole) result[at] = Convergence::Partial;
    }
    const int sign = elected(branch.guard) * (branch.guard_negated ? -1 : 1);
    if (sign == 0 || branch.target < 0) continue;
    const uint32_t taken = block(static_cast<uint32_t>(branch.target));
    const uint32_t chosen = sign > 0 ? taken : b + 1;
    for (uint32_t at : region) {
      if (chosen != static_cast<uint32_t>(join) && dominates(chosen, at)) result[at] = Convergence::Elected;
    }
  }
  convergence = std::move(result);
}

BasePlus base_plus(const SassFlow& flow, int32_t reg) {
  BasePlus result{reg, 0};
  for (int depth = 0; depth < kDeepest; ++depth) {
    result.reg = flow.origin(result.reg);
    const int32_t d = flow.definition(result.reg);
    if (d < 0) break;
    const auto i = static_cast<uint32_t>(d);
    const std::string_view name = flow.head(i);
    if ((name != "add" && name != "sub") || flow.has(i, ".f") || flow.function.instructions[i].guard >= 0)
      break;
    const ptx::Operand* right = flow.operand(i, 2);
    const auto value = right ? flow.constant(*right) : std::nullopt;
    const int32_t left = flow.operand_register(i, 1);
    if (!value || left < 0) break;
    result.displacement += name == "add" ? *value : -*value;
    result.reg = left;
  }
  return result;
}

}  // namespace emu::timing
