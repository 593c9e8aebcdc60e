#include "ptx/flow.h"

#include <algorithm>

#include "ptx/dataflow.h"

namespace emu::ptx {
namespace {

bool is_opcode(const Instruction& instruction, std::string_view family) {
  const std::string_view opcode = instruction.opcode;
  return opcode.starts_with(family) && (opcode.size() == family.size() || opcode[family.size()] == '.');
}

bool is_branch(const Instruction& i) { return is_opcode(i, "bra") || is_opcode(i, "brx"); }
bool leaves(const Instruction& i) { return is_opcode(i, "ret") || is_opcode(i, "exit"); }

// Instruction indices a branch may go to, its fall-through left out.
std::vector<uint32_t> branch_destinations(const Function& function, const Instruction& instruction) {
  if (instruction.target >= 0) return {static_cast<uint32_t>(instruction.target)};
  for (const Operand& operand : function.operands_of(instruction))
    if (operand.kind == OperandKind::BranchTable) return function.branch_tables[operand.symbol];
  return {};
}

std::vector<bool> find_leaders(const Function& function) {
  const auto& code = function.instructions;
  std::vector<bool> leader(code.size() + 1, false);
  leader[0] = true;
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (!is_branch(code[i]) && !leaves(code[i]) && !is_opcode(code[i], "trap")) continue;
    leader[i + 1] = true;
    for (const uint32_t target : branch_destinations(function, code[i])) leader[target] = true;
  }
  return leader;
}

using Edges = std::vector<std::vector<uint32_t>>;

// Adds to `reaches` every block from which one of the blocks in `work` can be reached.
void flood_backwards(const Edges& incoming, std::vector<uint32_t> work, std::vector<bool>& reaches) {
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    if (reaches[b]) continue;
    reaches[b] = true;
    work.insert(work.end(), incoming[b].begin(), incoming[b].end());
  }
}

// Blocks that are not bound to trap: a return can be reached from them, or a loop that never ends.
std::vector<bool> find_unharmed(const FlowGraph& graph, const Edges& incoming) {
  const auto n = static_cast<uint32_t>(graph.blocks.size());
  std::vector<uint32_t> returns, ends;
  for (uint32_t b = 0; b < n; ++b) {
    if (graph.blocks[b].leaves_normally) returns.push_back(b);
    if (graph.blocks[b].leaves_normally || graph.blocks[b].successors.empty()) ends.push_back(b);
  }
  std::vector<bool> reaches_end(n, false), unharmed(n, false);
  flood_backwards(incoming, ends, reaches_end);
  for (uint32_t b = 0; b < n; ++b)
    if (!reaches_end[b]) returns.push_back(b);
  flood_backwards(incoming, returns, unharmed);
  return unharmed;
}

// The graph turned round, with one node more (index n) for the function's exit.
struct ReversedGraph {
  Edges successors;    // reversed edges: from the exit towards the entry
  Edges predecessors;  // the program's own successors, exit included
};

ReversedGraph reverse(const FlowGraph& graph) {
  const auto n = static_cast<uint32_t>(graph.blocks.size());
  Edges incoming(n);
  for (uint32_t b = 0; b < n; ++b)
    for (const uint32_t s : graph.blocks[b].successors) incoming[s].push_back(b);
  const std::vector<bool> unharmed = find_unharmed(graph, incoming);

  ReversedGraph reversed{Edges(n + 1), Edges(n + 1)};
  auto edge = [&](uint32_t from, uint32_t to) {
    reversed.predecessors[from].push_back(to);
    reversed.successors[to].push_back(from);
  };
  for (uint32_t b = 0; b < n; ++b) {
    const Block& block = graph.blocks[b];
    const bool has_unharmed_way = std::any_of(block.successors.begin(), block.successors.end(),
                                              [&](uint32_t s) { return unharmed[s]; });
    for (const uint32_t s : block.successors)
      if (unharmed[s] || !has_unharmed_way) edge(b, s);
    if (block.leaves_normally || block.successors.empty()) edge(b, n);
  }
  return reversed;
}

// Ties every region that the exit does not reach, a loop without end, to the exit at its last block.
void tie_endless_loops(ReversedGraph& graph, uint32_t exit) {
  std::vector<bool> reached(exit + 1, false);
  flood_backwards(graph.successors, {exit}, reached);
  for (uint32_t b = exit; b-- > 0;) {
    if (reached[b]) continue;
    graph.successors[exit].push_back(b);
    graph.predecessors[b].push_back(exit);
    flood_backwards(graph.successors, {b}, reached);
  }
}

// Order in which a depth-first search from the exit leaves the nodes.
std::vector<uint32_t> post_order(const ReversedGraph& graph, uint32_t exit) {
  struct Frame {
    uint32_t node;
    size_t next;
  };
  std::vector<uint32_t> order;
  std::vector<bool> seen(exit + 1, false);
  std::vector<Frame> stack{{exit, 0}};
  seen[exit] = true;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == graph.successors[frame.node].size()) {
      order.push_back(frame.node);
      stack.pop_back();
      continue;
    }
    const uint32_t next = graph.successors[frame.node][frame.next++];
    if (seen[next]) continue;
    seen[next] = true;
    stack.push_back({next, 0});
  }
  return order;
}

}  // namespace

FlowGraph build_flow_graph(const Function& function) {
  const auto& code = function.instructions;
  const std::vector<bool> leader = find_leaders(function);
  FlowGraph graph;
  graph.block_of.resize(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (leader[i]) graph.blocks.push_back({i, i, {}, false});
    graph.block_of[i] = static_cast<uint32_t>(graph.blocks.size() - 1);
    graph.blocks.back().end = i + 1;
  }
  for (Block& block : graph.blocks) {
    const Instruction& last = code[block.end - 1];
    for (const uint32_t target : branch_destinations(function, last))
      block.successors.push_back(graph.block_of[target]);
    if (!ends_path(last) && block.end < code.size()) block.successors.push_back(graph.block_of[block.end]);
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()),
                           block.successors.end());
    block.leaves_normally = leaves(last);
  }
  return graph;
}

// Cooper, Harvey and Kennedy's iteration, run on the reversed graph.
std::vector<int32_t> immediate_post_dominators(const FlowGraph& graph) {
  const auto exit = static_cast<uint32_t>(graph.blocks.size());
  ReversedGraph reversed = reverse(graph);
  tie_endless_loops(reversed, exit);
  const std::vector<uint32_t> order = post_order(reversed, exit);
  std::vector<uint32_t> number(exit + 1, 0);
  for (uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;

  constexpr uint32_t kUnknown = 0xFFFFFFFFu;
  std::vector<uint32_t> dominator(exit + 1, kUnknown);
  dominator[exit] = exit;
  auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == exit) continue;
      uint32_t best = kUnknown;
      for (const uint32_t p : reversed.predecessors[*it])
        if (dominator[p] != kUnknown) best = best == kUnknown ? p : intersect(best, p);
      if (best == dominator[*it]) continue;
      dominator[*it] = best;
      changed = true;
    }
  }
  std::vector<int32_t> result(exit);
  for (uint32_t b = 0; b < exit; ++b)
    result[b] = dominator[b] == exit ? kFunctionExit : static_cast<int32_t>(dominator[b]);
  return result;
}

void mark_reconvergence(Function& function, const FlowGraph& graph) {
  const std::vector<int32_t> dominators = immediate_post_dominators(graph);
  for (uint32_t i = 0; i < function.instructions.size(); ++i) {
    Instruction& instruction = function.instructions[i];
    const bool conditional =
        is_opcode(instruction, "brx") || (is_opcode(instruction, "bra") && instruction.guard >= 0);
    if (!conditional) continue;
    const int32_t block = dominators[graph.block_of[i]];
    if (block == kFunctionExit) continue;
    instruction.reconverge = static_cast<int32_t>(graph.blocks[block].begin);
    // .uni is the programmer's word; a join costs nothing where it holds.
    function.instructions[instruction.reconverge].is_join = true;
  }
}

}  // namespace emu::ptx
